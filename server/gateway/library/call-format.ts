import type { ServedOperation } from "../../../domain/access/gateway-operations.ts";
import type { Dialect } from "../../../domain/access/key-record.ts";
import type { UpstreamPath } from "../classify.ts";

/** How a dialect is asked for what a library needs. */
export type CallFormat = {
  readonly operation: ServedOperation;
  readonly path: UpstreamPath;
  /** Whether the path names the model. */
  readonly namesModel: boolean;
  /** Headers that its provider asks for besides. */
  readonly headers?: Readonly<Record<string, string>>;
};

/** The formats of the dialects that have what is asked for. */
export type CallFormats<F extends CallFormat> = Readonly<Partial<Record<Dialect, F>>>;
