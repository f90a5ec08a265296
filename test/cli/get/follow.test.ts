import { expect, test } from "vitest";
import { follow } from "../../../cli/get/follow.ts";
import { changesOf, notifyEvery } from "../../../cli/source/changes.ts";
import type { ListedObject } from "../../../cli/source/source.ts";
import { until } from "../../env/until.ts";

const changesUntil = (signal: AbortSignal) => () => changesOf((notify) => notifyEvery(1, notify, signal));

test("a watch reports what comes, changes and goes, each once, and nothing that stays, until its end", async () => {
  const key = (name: string, version = 1): ListedObject => ({
    kind: "PlatformKey",
    metadata: { namespace: "dev", name },
    json: { name, version },
  });
  const seen: string[] = [];
  let there = [key("stays"), key("changes"), key("goes")];
  const stop = new AbortController();
  const list = async () => there;
  const onChange = ({ json }: ListedObject, isGone: boolean) => void seen.push(`${JSON.stringify(json)} ${isGone}`);
  const following = follow({ list, changes: changesUntil(stop.signal) }, there, onChange, stop.signal);
  there = [key("stays"), key("changes", 2), key("comes")];
  await until("it is reported", () => seen.length >= 3);
  stop.abort();
  await following;
  expect(seen).toEqual([
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
