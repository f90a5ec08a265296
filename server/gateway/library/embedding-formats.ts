import { memberOf } from "../member-of.ts";
import type { CallFormat, CallFormats } from "./call-format.ts";

/** Form in which a dialect is asked for vectors, and in which it answers. Pure. */
export type EmbeddingFormat = CallFormat & {
  /** @param dimensions length of the vectors; undefined for the model's own */
  body(model: string, texts: readonly string[], dimensions: number | undefined): object;
  /** Returns the vectors of an answer in the order of the texts, unchecked; undefined if it is no such answer. */
  vectorsOf(answer: unknown): readonly unknown[] | undefined;
};

/** Formats of the dialects that know embeddings. */
export const EMBEDDING_FORMATS: CallFormats<EmbeddingFormat> = {
  openai: {
    operation: "gateway.embeddings",
    path: { version: "v1", before: "/embeddings", after: "" },
    namesModel: false,
    body: (model, input, dimensions) => ({
      model,
      input,
      encoding_format: "float",
      ...(dimensions !== undefined && { dimensions }),
    }),
    vectorsOf(answer) {
      const data = memberOf(answer, "data");
      if (!Array.isArray(data)) return undefined;
      const vectors: unknown[] = [];
      for (const [position, item] of data.entries()) {
        const index = memberOf(item, "index") ?? position;
        if (typeof index !== "number" || !(index in data) || index in vectors) return undefined;
        vectors[index] = memberOf(item, "embedding");
      }
      return vectors;
    },
  },
  gemini: {
    operation: "gateway.batch_embed_contents",
    path: { version: "v1beta", before: "/models/", after: ":batchEmbedContents" },
    namesModel: true,
    body: (model, texts, dimensions) => ({
      requests: texts.map((text) => ({
        model: `models/${model}`,
        content: { parts: [{ text }] },
        ...(dimensions !== undefined && { outputDimensionality: dimensions }),
      })),
    }),
    vectorsOf(answer) {
      const embeddings = memberOf(answer, "embeddings");
      return Array.isArray(embeddings) ? embeddings.map((item) => memberOf(item, "values")) : undefined;
    },
  },
};

/** Numbers of a vector at most: as many as the database keeps in a vector of pgvector whose signature is searched. */
const MAX_DIMENSIONS = 4_096;

/**
 * Checks the vectors that an upstream gave.
 *
 * @returns the vectors, or what is wrong with them, without any words of the upstream's
 */
export function checkVectors(
  found: readonly unknown[] | undefined,
  count: number,
  dimensions: number | undefined,
): readonly (readonly number[])[] | string {
  if (found === undefined) return "the upstream's answer has no vectors in the place where they belong";
  if (found.length !== count) return `the upstream gave ${found.length} vectors for ${count} texts`;
  const vectors: (readonly number[])[] = [];
  for (const vector of Array.from(found)) {
    if (!isVector(vector)) return "the upstream gave a vector that is empty, or has something else than finite numbers";
    const wanted = dimensions ?? vectors[0]?.length ?? vector.length;
    if (vector.length > MAX_DIMENSIONS) return `the upstream gave a vector of more than ${MAX_DIMENSIONS} numbers`;
    if (vector.length !== wanted)
      return `the upstream gave a vector of ${vector.length} numbers where ${wanted} belong`;
    vectors.push(vector);
  }
  return vectors;
}

/**
 * True for a list of finite numbers that are not all 0. The database keeps single precision: a vector that is infinite
 * there, or 0 throughout, has no direction.
 */
function isVector(vector: unknown): vector is number[] {
  return (
    Array.isArray(vector) &&
    vector.every((number) => typeof number === "number" && Number.isFinite(Math.fround(number))) &&
    vector.some((number) => Math.fround(number) !== 0)
  );
}
