import { sql } from "kysely";
import { fromDigest } from "../../../store/database/digest.ts";

/** By what a library's texts become vectors. */
export type EmbeddingModel = {
  /** Of the key that this is done with. */
  readonly digest: string;
  readonly publicId: string;
  readonly model: string;
  readonly askedDimensions: number | null;
  /** Which upstream and model made the vectors that there are, and their length; null before the first. */
  readonly servedBy: string | null;
  readonly dimensions: number | null;
};

/** What a model is called with, as a statement's columns over `library_embeddings e`, its key's version and gateway. */
export const MODEL_COLUMNS = sql`v.digest, g.public_id as "publicId", e.model, e.asked_dimensions as "askedDimensions",
  e.served_by as "servedBy", e.dimensions`;
export const MODEL_JOINS = sql`left join lateral (
    select digest from key_versions where key_id = e.key_id order by number desc limit 1
  ) v on true left join gateways g on g.id = e.gateway_id`;
export type ModelRow = Omit<EmbeddingModel, "digest" | "publicId"> & {
  digest: Uint8Array | null;
  publicId: string | null;
};

/** Where the gateway or the key is gone, its public id or digest is empty, and names none. */
export function toModel({ digest, publicId, ...row }: ModelRow): EmbeddingModel {
  return { ...row, digest: digest === null ? "" : fromDigest(digest), publicId: publicId ?? "" };
}
