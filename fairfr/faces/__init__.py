"""Images in, one backbone's vectors out: align faces, run a user's ONNX model, save an npz."""
