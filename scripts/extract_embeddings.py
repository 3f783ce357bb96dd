"""fairfr extract, from a checkout: extract embeddings with your own ONNX face model."""

from fairfr.commands.extract import main

if __name__ == "__main__":
    main()
