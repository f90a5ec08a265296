/** Asks an endpoint of OpenAI's form for vectors of texts. */

/** Texts of one request, as Keyplane sends them. */
const MAX_TEXTS = 32;

/** Returns the vector of each text, in their order. */
export type Embed = (texts: readonly string[]) => Promise<number[][]>;

/** Returns what asks the endpoint `EMBEDDINGS_URL` for vectors by `EMBEDDINGS_MODEL`; undefined if no URL is given. */
export function embeddingEndpoint(env: NodeJS.ProcessEnv): Embed | undefined {
  const { EMBEDDINGS_URL: url, EMBEDDINGS_MODEL: model = "default" } = env;
  if (url === undefined) return undefined;
  return async (texts) => {
    const vectors: number[][] = [];
    for (let from = 0; from < texts.length; from += MAX_TEXTS) {
      const response = await fetch(`${url.replace(/\/$/, "")}/embeddings`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model, input: texts.slice(from, from + MAX_TEXTS) }),
      });
      if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
      const { data }: { data: { embedding: number[] }[] } = JSON.parse(await response.text());
      vectors.push(...data.map(({ embedding }) => embedding));
    }
    return vectors;
  };
}
