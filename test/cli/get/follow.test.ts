import { expect, test } from "vitest";
import { follow } from "../../../cli/get/follow.ts";
import { changesOf, tellEvery } from "../../../cli/source/changes.ts";
import type { Seen } from "../../../cli/source/source.ts";
import { until } from "../../env/until.ts";

const changesUntil = (signal: AbortSignal) => () => changesOf((tell) => tellEvery(1, tell, signal));

test("a watch tells of what comes, changes and goes, each once, and of nothing that stays, until its end", async () => {
  const key = (name: string, version = 1): Seen => ({
    kind: "PlatformKey",
    metadata: { namespace: "dev", name },
    json: { name, version },
  });
  const told: string[] = [];
  let there = [key("stays"), key("changes"), key("goes")];
  const stop = new AbortController();
  const list = async () => there;
  const onChange = ({ json }: Seen, isGone: boolean) => void told.push(`${JSON.stringify(json)} ${isGone}`);
  const following = follow({ list, changes: changesUntil(stop.signal) }, there, onChange, stop.signal);
  there = [key("stays"), key("changes", 2), key("comes")];
  await until("it is told", () => told.length >= 3);
  stop.abort();
  await following;
  expect(told).toEqual([
    '{"name":"goes","version":1} true',
    '{"name":"changes","version":2} false',
    '{"name":"comes","version":1} false',
  ]);
});

test("a watch ends with its signal while it waits for an answer, and whatever becomes of that", async () => {
  const stop = new AbortController();
  let asked = 0;
  const list = () => {
    asked++;
    return new Promise<never>((_, reject) => {
      stop.signal.addEventListener("abort", () => setImmediate(() => reject(new Error("the server has gone"))));
    });
  };
  const following = follow({ list, changes: changesUntil(stop.signal) }, [], () => {}, stop.signal);
  await until("it asks", () => asked === 1);
  stop.abort();
  await following;
});
