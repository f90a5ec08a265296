import { expect, it } from "vitest";
import { readSecretVersion } from "../../../../controller/cluster/kubernetes/secrets/secret-changes.ts";
import { createReflectors } from "../../../../controller/cluster/kubernetes/watch/reflectors.ts";
import { until } from "../../../env/until.ts";
import { type Call, clock, startFakeApiServer } from "./fake-api-server.ts";

const isWatch = ({ query }: Call) => query.get("watch") === "1";
const isWholeList = (call: Call) => !isWatch(call) && call.query.get("limit") !== "1";

it("c25: a cluster put back in time that one watch notices has every collection listed again, once", async (context) => {
  const calls = (path: string) => fake.calls.filter((call) => call.path === path);
  const lists = (path: string) => calls(path).filter(isWholeList).length;
  /** What was heard of the keys is later than the restored store, and what was heard of the teams is not. */
  const heard: Record<string, string> = { "/keys": "900", "/teams": "500" };
  const restored = { metadata: { resourceVersion: "600" }, items: [] };
  const fake = await startFakeApiServer(async (call) => {
    const watches = calls(call.path).filter(isWatch).length;
    if (!isWatch(call)) {
      const isFirst = watches === 0;
      call.answer(200, isFirst ? { ...restored, metadata: { resourceVersion: heard[call.path] } } : restored);
    } else if (watches === 1) {
      if (call.path === "/teams") {
        await until("the keys are listed again", () => lists("/keys") === 2);
        call.event("BOOKMARK", { metadata: { resourceVersion: "600" } });
      }
      call.end();
    } else if (watches === 2) {
      call.event("BOOKMARK", { metadata: { resourceVersion: "601" } });
      call.end();
    }
  });
  const log = (_level: string, message: string) => void fake.lines.push(message);
  const reflectors = createReflectors({ api: fake.api, clock, random: () => 0.5, log, confirm: async () => {} });
  const stop = new AbortController();
  context.onTestFinished(async () => {
    stop.abort();
    await reflectors.ended();
    await fake.close();
  });
  const sink = { replace: () => {}, put: () => {}, remove: () => {} };
  for (const what of ["keys", "teams"]) {
    void reflectors.start({ path: `/${what}`, what, read: readSecretVersion, sink, onListed: () => {} }, stop.signal);
  }
  const paths = Object.keys(heard);
  await until("each is watched for the third time", () =>
    paths.every((path) => calls(path).filter(isWatch).length === 3),
  );
  expect(paths.map(lists)).toEqual([2, 2]);
  expect(fake.lines).toHaveLength(1);
});
