import { hash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { type Received, startUpstream } from "../../server/gateway/upstream.ts";

/** Words that mean the same here: the first stands for all. */
const SYNONYMS: readonly (readonly string[])[] = [
  ["car", "automobile", "vehicle", "auto"],
  ["invoice", "bill", "rechnung"],
  ["holiday", "vacation", "urlaub"],
  ["outage", "downtime", "incident"],
];
const MEANING = new Map(SYNONYMS.flatMap(([first = "", ...others]) => others.map((word) => [word, first] as const)));

export const DIMENSIONS = 256;

/** A vector by the words of a text and their parts: alike for texts that share words, or synonyms of them. */
export function vectorOf(text: string, dimensions = DIMENSIONS): number[] {
  const vector = Array.from({ length: dimensions }, () => 0);
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [text];
  for (const word of words.map((each) => MEANING.get(each) ?? each)) {
    const direction = directionOf(word, dimensions);
    for (let at = 0; at < dimensions; at++) vector[at] = (vector[at] ?? 0) + (direction[at] ?? 0);
  }
  return vector;
}

const directions = new Map<string, readonly number[]>();

/** Each word has a direction of its own: of so many numbers, two are nearly at right angles. */
function directionOf(word: string, dimensions: number): readonly number[] {
  const known = directions.get(word);
  if (known !== undefined && known.length >= dimensions) return known;
  const direction: number[] = [];
  for (let block = 0; direction.length < dimensions; block++) {
    for (const byte of hash("sha512", `${block} ${word}`, "buffer")) direction.push(byte - 127.5);
  }
  directions.set(word, direction);
  return direction;
}

/** The texts of a request of either dialect. */
export function textsOf({ url, body }: Received): string[] {
  const asked = JSON.parse(body.toString());
  return url.includes(":batchEmbedContents")
    ? asked.requests.map((request: { content: { parts: { text: string }[] } }) => request.content.parts[0]?.text)
    : asked.input;
}

/** Answers as a provider does: in the dialect of the path, the vectors of one request in no order where it has one. */
export function answerVectors(response: ServerResponse, received: Received): void {
  answerVectorsOf(DIMENSIONS, response, received);
}

export function answerVectorsOf(dimensions: number, response: ServerResponse, received: Received): void {
  answerEach((text) => vectorOf(text, dimensions), response, received);
}

/** Answers as a model that knows the synonyms alone: a text of whatever length has those meanings that it mentions. */
export function answerConcepts(response: ServerResponse, received: Received): void {
  const conceptsOf = (text: string) => {
    const words = new Set(text.toLowerCase().match(/\p{L}+/gu));
    return [1, ...SYNONYMS.map((alike) => (alike.some((word) => words.has(word)) ? 1 : -0.1))];
  };
  answerEach(conceptsOf, response, received);
}

function answerEach(vectorOfText: (text: string) => number[], response: ServerResponse, received: Received): void {
  const vectors = textsOf(received).map(vectorOfText);
  const answer = received.url.includes(":batchEmbedContents")
    ? { embeddings: vectors.map((values) => ({ values })) }
    : { object: "list", data: vectors.map((embedding, index) => ({ index, embedding })).reverse() };
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(answer));
}

/** What a test, or a file, does at its end. */
export type Ending = { onTestFinished(end: () => void | Promise<void>): void };

/** An upstream on loopback that embeds. It ends with the test. */
export async function startEmbeddingUpstream(context: Ending) {
  const upstream = await startUpstream(answerVectors);
  context.onTestFinished(() => upstream.close());
  return upstream;
}
