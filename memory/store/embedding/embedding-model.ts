import { sql } from "kysely";
import { fromDigest } from "../../../store/database/digest.ts";

/** Model that turns a library's texts into vectors, and the key that it is called with. */
export type EmbeddingModel = {
  /** Digest of the key. */
  readonly digest: string;
  readonly publicId: string;
  readonly model: string;
  readonly askedDimensions: number | null;
  /** Upstream and model that made the present vectors, and the vectors' length; null before the first vector. */
  readonly servedBy: string | null;
  readonly dimensions: number | null;
};

/** Columns that a model is called with, over `library_embeddings e`, its key's version and its gateway. */
export const MODEL_COLUMNS = sql`v.digest, g.public_id as "publicId", e.model, e.asked_dimensions as "askedDimensions",
  e.served_by as "servedBy", e.dimensions`;
export const MODEL_JOINS = sql`left join lateral (
    select digest from key_versions where key_id = e.key_id order by number desc limit 1
  ) v on true left join gateways g on g.id = e.gateway_id`;
export type ModelRow = Omit<EmbeddingModel, "digest" | "publicId"> & {
  digest: Uint8Array | null;
  publicId: string | null;
};

/** Converts a row to a model. If the gateway or the key is gone, its public id or digest is empty, which names none. */
export function toModel({ digest, publicId, ...row }: ModelRow): EmbeddingModel {
  return { ...row, digest: digest === null ? "" : fromDigest(digest), publicId: publicId ?? "" };
}
