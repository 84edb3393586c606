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


class MhcPre(c.Structure):
    _fields_ = [("x", c.c_void_p), ("fn", c.c_void_p), ("scale", c.c_void_p), ("base", c.c_void_p), ("norm", c.c_void_p),
                ("post", c.c_void_p), ("comb", c.c_void_p), ("layer_in", c.c_void_p), ("workspace", c.c_void_p),
                ("t", c.c_int), ("h", c.c_int)]


class MhcPost(c.Structure):
    _fields_ = [("x", c.c_void_p), ("y", c.c_void_p), ("post", c.c_void_p), ("comb", c.c_void_p), ("out", c.c_void_p),
                ("t", c.c_int), ("h", c.c_int)]


class MhcHead(c.Structure):
    _fields_ = [("x", c.c_void_p), ("fn", c.c_void_p), ("scale", c.c_void_p), ("base", c.c_void_p), ("out", c.c_void_p),
                ("t", c.c_int), ("h", c.c_int)]


class PrepGroup(c.Structure):
    _fields_ = [("block_table", c.c_void_p), ("slots", c.c_void_p), ("seq_lens", c.c_void_p),
                ("token_seq_lens", c.c_void_p), ("token_rows", c.c_void_p), ("block_counts", c.c_void_p),
                ("block_size", c.c_int), ("ratio", c.c_int), ("width", c.c_int)]


class Prep(c.Structure):
    _fields_ = [("staging", c.c_void_p), ("packed", c.c_void_p), ("bytes", c.c_int64), ("positions", c.c_void_p),
                ("seq_lens", c.c_void_p), ("query_start", c.c_void_p), ("logits_index", c.c_void_p),
                ("group", PrepGroup * 7), ("groups", c.c_int), ("requests", c.c_int), ("query", c.c_int)]


class IndexerQuery(c.Structure):
    _fields_ = [("q", c.c_void_p), ("weight", c.c_void_p), ("positions", c.c_void_p), ("cos_sin", c.c_void_p), ("q8", c.c_void_p),
                ("weight_out", c.c_void_p), ("max_position", c.c_int64), ("t", c.c_int), ("weight_bf16", c.c_int)]


class IndexerScores(c.Structure):
    _fields_ = [("q8", c.c_void_p), ("weight", c.c_void_p), ("k8", c.c_void_p), ("k_scale", c.c_void_p), ("bound", c.c_void_p),
                ("scores", c.c_void_p), ("scores_stride", c.c_int64), ("t", c.c_int), ("s", c.c_int)]


class IndexerGlobalise(c.Structure):
    _fields_ = [("chosen", c.c_void_p), ("bound", c.c_void_p), ("token_rows", c.c_void_p), ("block_table", c.c_void_p),
                ("slots", c.c_void_p), ("counts", c.c_void_p), ("t", c.c_int), ("count", c.c_int), ("block_size", c.c_int),
                ("width", c.c_int)]


class SwaWindows(c.Structure):
    _fields_ = [("query_start", c.c_void_p), ("seq_lens", c.c_void_p), ("token_rows", c.c_void_p), ("valid", c.c_void_p),
                ("block_table", c.c_void_p), ("slots", c.c_void_p), ("lengths", c.c_void_p), ("table_stride", c.c_int64),
                ("slots_stride", c.c_int64), ("first", c.c_int), ("t", c.c_int), ("width", c.c_int), ("list_width", c.c_int),
                ("causal", c.c_int)]


class SwaPack(c.Structure):
    _fields_ = [("kv", c.c_void_p), ("slots", c.c_void_p), ("pages", c.c_void_p), ("page_count", c.c_int64), ("t", c.c_int)]


class OneshotAr(c.Structure):
    _fields_ = [("source", c.c_void_p), ("out", c.c_void_p), ("regions", c.c_void_p * 8), ("state", c.c_void_p),
                ("report", c.c_void_p), ("elements", c.c_int64), ("rank", c.c_int), ("world", c.c_int),
                ("report_spins", c.c_uint32), ("abort_spins", c.c_uint32)]


class Kernels:
    """Every method launches on torch's current stream and raises when the entry refuses."""

    def __init__(self, path):
        self.so = c.CDLL(path)
        for name in ("bk_moe_workspace_bytes", "bk_mhc_workspace_bytes", "bk_oneshot_region_bytes", "bk_oneshot_state_bytes"):
            getattr(self.so, name).restype = c.c_size_t

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

    def mhc_workspace(self, h):
        return torch.full((self.so.bk_mhc_workspace_bytes(h),), 255, dtype=torch.uint8, device="cuda")

    @staticmethod
    def _mhc_pre(x, fn, scale, base, norm, post, comb, layer_in, workspace):
        return MhcPre(x.data_ptr(), fn.data_ptr(), scale.data_ptr(), base.data_ptr(),
                      norm.data_ptr() if norm is not None else None, post.data_ptr(), comb.data_ptr(), layer_in.data_ptr(),
                      workspace.data_ptr(), x.shape[0], x.shape[2])

    @staticmethod
    def _mhc_post(x, y, post, comb, out):
        return MhcPost(x.data_ptr(), y.data_ptr(), post.data_ptr(), comb.data_ptr(), out.data_ptr(), x.shape[0], x.shape[2])

    def mhc_pre(self, *of_pre):
        self.call("bk_mhc_pre", self._mhc_pre(*of_pre))

    def mhc_post(self, *of_post):
        self.call("bk_mhc_post", self._mhc_post(*of_post))

    def mhc_post_pre(self, of_post, of_pre):
        self.call("bk_mhc_post_pre", self._mhc_post(*of_post), self._mhc_pre(*of_pre))

    def mhc_head(self, x, fn, scale, base, out):
        self.call("bk_mhc_head", MhcHead(x.data_ptr(), fn.data_ptr(), scale.data_ptr(), base.data_ptr(), out.data_ptr(), x.shape[0],
                                         x.shape[2]))

    def index_query(self, q, weight, positions, cos_sin, q8, weight_out):
        self.call("bk_indexer_query", IndexerQuery(q.data_ptr(), weight.data_ptr(), positions.data_ptr(), cos_sin.data_ptr(),
                                                   q8.data_ptr(), weight_out.data_ptr(), cos_sin.shape[0], q.shape[0],
                                                   int(weight.dtype == torch.bfloat16)))

    def index_scores(self, q8, weight, k8, k_scale, bound, scores):
        self.call("bk_indexer_scores", IndexerScores(q8.data_ptr(), weight.data_ptr(), k8.data_ptr(), k_scale.data_ptr(),
                                                     bound.data_ptr(), scores.data_ptr(), scores.stride(0), q8.shape[0], k8.shape[0]))

    def index_globalise(self, chosen, bound, rows, table, slots, counts, block_size):
        self.call("bk_indexer_globalise", IndexerGlobalise(chosen.data_ptr(), bound.data_ptr(), rows.data_ptr(), table.data_ptr(),
                                                           slots.data_ptr(), counts.data_ptr(), chosen.shape[0], chosen.shape[1],
                                                           block_size, table.shape[1]))

    def swa_windows(self, starts, lens, rows, valid, table, slots, lengths, causal):
        self.call("bk_swa_windows", SwaWindows(starts.data_ptr(), lens.data_ptr(), rows.data_ptr(), valid.data_ptr(), table.data_ptr(),
                                               slots.data_ptr(), lengths.data_ptr(), table.stride(0), slots.stride(0), 0,
                                               slots.shape[0], table.shape[1], slots.shape[1], int(causal)))

    def swa_pack(self, kv, slots, pages):
        self.call("bk_swa_pack", SwaPack(kv.data_ptr(), slots.data_ptr(), pages.data_ptr(), pages.shape[0], kv.shape[0]))
