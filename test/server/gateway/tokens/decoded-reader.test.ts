import { expect, it } from "vitest";
import { AnswerReader } from "../../../../server/gateway/tokens/answer-reader.ts";
import { DecodedReader } from "../../../../server/gateway/tokens/decoded-reader.ts";

it.each(["gzip", "br"])("b250: beside one team's answers in %s that never end, other teams' are read", (coding) => {
  const opened: DecodedReader[] = [];
  const openAll = (teamId: string): number => {
    const before = opened.length;
    const open = () => DecodedReader.open(new AnswerReader("openai", true), coding, teamId);
    for (let one = open(); one !== undefined; one = open()) opened.push(one);
    return opened.length - before;
  };
  const places = ["hostile", "other", "third"].map(openAll);
  for (const one of opened) one.end(false, () => {});
  expect(Math.min(...places)).toBeGreaterThan(0);
});
