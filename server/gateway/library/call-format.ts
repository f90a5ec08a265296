import type { ServedOperation } from "../../../domain/access/gateway-operations.ts";
import type { Dialect } from "../../../domain/access/key-record.ts";
import type { UpstreamPath } from "../classify.ts";

/** Form of a request that asks a dialect for what a library needs. */
export type CallFormat = {
  readonly operation: ServedOperation;
  readonly path: UpstreamPath;
  /** True if the path names the model. */
  readonly namesModel: boolean;
  /** Further headers that its provider asks for. */
  readonly headers?: Readonly<Record<string, string>>;
};

/** Formats of the dialects that can do what is asked. */
export type CallFormats<F extends CallFormat> = Readonly<Partial<Record<Dialect, F>>>;
