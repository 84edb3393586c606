"""The kernels' C entries, called through ctypes on torch tensors."""

import ctypes as c

import torch


class Gate(c.Structure):
    _fields_ = [("x", c.c_void_p), ("w", c.c_void_p), ("logits", c.c_void_p), ("workspace", c.c_void_p),
                ("x_stride", c.c_int64), ("m", c.c_int), ("n", c.c_int), ("k", c.c_int)]


class Route(c.Structure):
    _fields_ = [("bias", c.c_void_p), ("weights", c.c_void_p), ("ids", c.c_void_p), ("scoring", c.c_int),
                ("top_k", c.c_int), ("renormalise", c.c_int), ("scale", c.c_float)]


class Head(c.Structure):
    _fields_ = [("x", c.c_void_p), ("w8", c.c_void_p), ("scale", c.c_void_p), ("logits", c.c_void_p),
                ("x_stride", c.c_int64), ("logits_stride", c.c_int64), ("m", c.c_int), ("v", c.c_int), ("k", c.c_int),
                ("logits_fp32", c.c_int)]


class Quantise(c.Structure):
    _fields_ = [("w", c.c_void_p), ("w8", c.c_void_p), ("scale", c.c_void_p), ("v", c.c_int), ("k", c.c_int)]


class Markov(c.Structure):
    _fields_ = [("base", c.c_void_p), ("idx", c.c_void_p), ("prev", c.c_void_p), ("w1", c.c_void_p), ("w2", c.c_void_p),
                ("logits", c.c_void_p), ("logits_stride", c.c_int64), ("batch", c.c_int), ("count", c.c_int),
                ("v", c.c_int), ("fp32", c.c_int)]


class Select(c.Structure):
    _fields_ = [("logits", c.c_void_p), ("values", c.c_void_p), ("idx", c.c_void_p), ("logits_stride", c.c_int64),
                ("batch", c.c_int), ("v", c.c_int), ("count", c.c_int), ("fp32", c.c_int)]


class Kernels:
    """Every method launches on torch's current stream and raises when the entry refuses."""

    def __init__(self, path):
        self.so = c.CDLL(path)
        self.so.bk_moe_workspace_bytes.restype = c.c_size_t

    def call(self, name, *jobs):
        stream = c.c_void_p(torch.cuda.current_stream().cuda_stream)
        status = getattr(self.so, name)(*[c.byref(job) for job in jobs], stream)
        if status != 0:
            raise RuntimeError(f"{name}: status {status}")

    def workspace(self, n):
        return torch.full((self.so.bk_moe_workspace_bytes(n),), 255, dtype=torch.uint8, device="cuda")

    def gate(self, x, w, logits, workspace):
        self.call("bk_moe_gate", Gate(x.data_ptr(), w.data_ptr(), logits.data_ptr(), workspace.data_ptr(), x.stride(0),
                              x.shape[0], w.shape[0], w.shape[1]))

    def route(self, x, w, bias, weights, ids, workspace, scoring=0, renormalise=1, scale=1.5):
        gate = Gate(x.data_ptr(), w.data_ptr(), None, workspace.data_ptr(), x.stride(0), x.shape[0], w.shape[0], w.shape[1])
        route = Route(bias.data_ptr() if bias is not None else None, weights.data_ptr(), ids.data_ptr(), scoring,
                      ids.shape[1], renormalise, scale)
        self.call("bk_moe_route", gate, route)

    def head(self, x, w8, scale, logits):
        self.call("bk_fp8_head", Head(x.data_ptr(), w8.data_ptr(), scale.data_ptr(), logits.data_ptr(),
                                      x.stride(0), logits.stride(0), x.shape[0], w8.shape[0], w8.shape[1],
                                      int(logits.dtype == torch.float32)))

    def quantise(self, w, w8, scale):
        self.call("bk_fp8_quantise", Quantise(w.data_ptr(), w8.data_ptr(), scale.data_ptr(), w.shape[0], w.shape[1]))

    def markov(self, base, idx, prev, w1, w2, logits):
        self.call("bk_markov_topk", Markov(base.data_ptr(), idx.data_ptr(), prev.data_ptr(), w1.data_ptr(), w2.data_ptr(),
                                           logits.data_ptr(), logits.stride(0), idx.shape[0], idx.shape[1], w1.shape[0],
                                           int(logits.dtype == torch.float32)))

    def select(self, logits, values, idx):
        self.call("bk_topk_select", Select(logits.data_ptr(), values.data_ptr(), idx.data_ptr(), logits.stride(0),
                                           logits.shape[0], logits.shape[1], idx.shape[1], int(logits.dtype == torch.float32)))
