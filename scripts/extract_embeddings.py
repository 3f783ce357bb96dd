"""fairfr extract, from a checkout: vectors of images with your own face model in ONNX."""

from fairfr.commands.extract import main

if __name__ == "__main__":
    main()
