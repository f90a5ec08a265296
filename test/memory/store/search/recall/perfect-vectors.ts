import { createHash } from "node:crypto";

export const PERFECT_DIMENSIONS = 256;

/** What a text is about, as a person who reads the corpus says it. */
export type Meaning = {
  /** The fact, which texts in other words or other languages share. */
  readonly about: string;
  /** The subject, which several facts share. */
  readonly topic: string;
  /** What sets the text apart from others about the same: any text of its own. */
  readonly own: string;
};

/**
 * The vector that a model which understands every language and every paraphrase gives a text: two texts about one fact
 * have a cosine near 0.9, two of one subject near 0.3, and others near 0.
 */
export function perfectVector({ about, topic, own }: Meaning): number[] {
  const parts = [
    [0.8, directionOf(`fact ${about}`)],
    [0.5, directionOf(`topic ${topic}`)],
    [0.33, directionOf(`text ${own}`)],
  ] as const;
  return Array.from({ length: PERFECT_DIMENSIONS }, (_, at) =>
    parts.reduce((sum, [weight, direction]) => sum + weight * (direction[at] ?? 0), 0),
  );
}

/** A direction of length 1 that depends on the text alone: of two texts they are nearly at right angles. */
function directionOf(text: string): number[] {
  const numbers = Array.from({ length: PERFECT_DIMENSIONS / 16 }, (_, block) => [
    ...new Int16Array(new Uint8Array(createHash("sha256").update(`${block} ${text}`).digest()).buffer),
  ]).flat();
  const length = Math.hypot(...numbers);
  return numbers.map((number) => number / length);
}
