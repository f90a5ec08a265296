import { describe, expect, it, type TestContext } from "vitest";
import { readSecretVersion } from "../../../../controller/cluster/kubernetes/secrets/secret-changes.ts";
import { type ReflectorOptions, reflect } from "../../../../controller/cluster/kubernetes/watch/reflector.ts";
import { until } from "../../../env/until.ts";
import { type Call, startFakeApiServer, status } from "./fake-api-server.ts";

const object = (name: string, resourceVersion: string) => ({ metadata: { name, resourceVersion } });
const bookmark = (resourceVersion: string) => ({ metadata: { resourceVersion } });
const page = (resourceVersion: string, names: readonly string[], token?: string) => ({
  metadata: { resourceVersion, ...(token === undefined ? {} : { continue: token }) },
  items: names.map((name) => object(name, resourceVersion)),
});
const isWatch = ({ query }: Call) => query.get("watch") === "1";
/** It asks for the store's version alone. */
const isCheck = ({ query }: Call) => query.get("limit") === "1";

/**
 * A reflector on a fake API server that answers as given; what is present, and every removal that it reported.
 *
 * @param storeVersion what the server's store has come to
 */
async function reflecting(
  context: TestContext,
  lists: (call: Call, count: number) => void,
  watches: (call: Call, count: number) => void,
  options: Partial<Pick<ReflectorOptions<unknown>, "confirm" | "mustList">> = {},
  storeVersion = "999",
) {
  const counts = { list: 0, watch: 0, open: 0, mostOpen: 0 };
  const fake = await startFakeApiServer((call) => {
    if (isCheck(call)) return call.answer(200, page(storeVersion, []));
    if (!isWatch(call)) return lists(call, ++counts.list);
    const open = fake.calls.filter((one) => isWatch(one) && one.isOpen()).length;
    counts.mostOpen = Math.max(counts.mostOpen, open);
    watches(call, ++counts.watch);
  });
  const present = new Set<string>();
  const removed: string[] = [];
  const stop = new AbortController();
  const remove = (name: string) => {
    present.delete(name);
    removed.push(name);
  };
  const ended = reflect(
    {
      api: fake.api,
      path: "/things",
      what: "things",
      read: readSecretVersion,
      sink: {
        replace: (items) => {
          const names = new Set(items.map(({ name }) => name));
          for (const name of [...present]) if (!names.has(name)) remove(name);
          for (const name of names) present.add(name);
        },
        put: ({ name }) => present.add(name),
        remove: ({ name }) => remove(name),
      },
      random: () => 0.5,
      log: (_level, message) => fake.lines.push(message),
      onHeard: () => {},
      ...options,
    },
    () => {},
    stop.signal,
  );
  context.onTestFinished(async () => {
    stop.abort();
    await ended;
    await fake.close();
  });
  return { fake, present, removed, counts, versions: () => fake.calls.filter(isWatch).map(versionOf) };
}

const versionOf = ({ query }: Call) => query.get("resourceVersion");

/** What is read in one turn of the event loop, at most, while a list of so many objects is taken in. */
async function mostReadInOneIteration(context: TestContext, count: number): Promise<number> {
  const names = Array.from({ length: count }, (_, i) => `thing-${i}`);
  const fake = await startFakeApiServer((call) => {
    if (!isWatch(call)) call.answer(200, page("7", names));
  });
  context.onTestFinished(() => fake.close());
  let most = 0;
  let inThisIteration = 0;
  const stop = new AbortController();
  await reflect(
    {
      api: fake.api,
      path: "/things",
      what: "things",
      read: (raw) => {
        if (inThisIteration++ === 0) setImmediate(() => (inThisIteration = 0));
        most = Math.max(most, inThisIteration);
        // Objects that are slow to read, so that a few of them are as long as others should wait.
        for (const began = performance.now(); performance.now() - began < 2; );
        return readSecretVersion(raw);
      },
      sink: { replace: () => stop.abort(), put: () => {}, remove: () => {} },
      random: () => 0.5,
      log: (_level, message) => fake.lines.push(message),
      onHeard: () => {},
    },
    () => {},
    stop.signal,
  );
  return most;
}

describe.concurrent("a reflector", () => {
  it("c20: takes in a long list by and by, so that other work has its turn", async (context) => {
    const most = await mostReadInOneIteration(context, 100);
    expect(most).toBeLessThanOrEqual(5);
  });

  it("lists in pages and watches from where the list ended", async (context) => {
    const { fake, present } = await reflecting(
      context,
      (call) =>
        call.query.get("continue") === "more"
          ? call.answer(200, page("7", ["c"]))
          : call.answer(200, page("7", ["a", "b"], "more")),
      (call) => call.event("ADDED", object("d", "8")),
    );
    await until("everything is there", () => present.size === 4);
    expect([...present]).toEqual(["a", "b", "c", "d"]);
    const [first, second, third] = fake.calls;
    expect(first?.query.get("limit")).toBe("500");
    expect(second?.query.get("continue")).toBe("more");
    expect(third?.query.get("allowWatchBookmarks")).toBe("true");
    expect(third?.query.get("resourceVersion")).toBe("7");
  });

  it("b246: takes in no page that is long by what tenants write into their objects: it asks for fewer at a time", async (context) => {
    const [count, bytes] = [60, 400_000];
    const labels = { padding: "x".repeat(bytes) };
    const pages: { readonly from: number; readonly to: number }[] = [];
    const { present } = await reflecting(
      context,
      ({ query, answer }) => {
        const from = Number(query.get("continue") ?? 0);
        const to = Math.min(count, from + Number(query.get("limit")));
        pages.push({ from, to });
        const items = Array.from({ length: to - from }, (_, i) => ({
          metadata: { name: `thing-${from + i}`, resourceVersion: "7", labels },
        }));
        answer(200, { metadata: { resourceVersion: "7", ...(to < count ? { continue: `${to}` } : {}) }, items });
      },
      () => {},
    );
    await until("everything is there", () => present.size === count);
    const taken = pages.filter(({ to }, i) => to === (pages[i + 1]?.from ?? count));
    expect(taken.reduce((sum, { from, to }) => sum + to - from, 0)).toBe(count);
    expect(Math.max(...taken.map(({ from, to }) => (to - from) * bytes))).toBeLessThanOrEqual(8 << 20);
    expect(pages.length).toBeLessThan(count / 2);
  });

  it("goes on from the last bookmark, without a list", async (context) => {
    const { counts, versions } = await reflecting(
      context,
      (call) => call.answer(200, page("7", ["a"])),
      (call, count) => {
        if (count > 2) return;
        call.event("BOOKMARK", bookmark(`${count}00`));
        if (count === 1) call.end();
        else call.cut();
      },
    );
    await until("it watches again", () => counts.watch === 3);
    expect(versions()).toEqual(["7", "100", "200"]);
    expect(counts.list).toBe(1);
  });

  it("c18: a page that has expired begins the list anew, and what has gone meanwhile is reported once", async (context) => {
    const { present, removed, counts, versions } = await reflecting(
      context,
      (call, count) => {
        const token = call.query.get("continue");
        if (count === 1) call.answer(200, page("5", ["a", "b", "gone"]));
        else if (count === 3) call.answer(410, status(410, "Expired"));
        else if (token === null) call.answer(200, page("9", ["a"], "more"));
        else call.answer(200, page("9", ["b"]));
      },
      (call, count) => {
        if (count === 1) call.event("ERROR", status(410, "Expired"));
        if (count === 2) call.event("ADDED", object("new", "10"));
      },
    );
    await until("it watches again", () => present.has("new"));
    expect([...present].sort()).toEqual(["a", "b", "new"]);
    expect(removed).toEqual(["gone"]);
    expect(versions()).toEqual(["5", "9"]);
    expect(counts.list).toBe(5);
  });

  it("c18: a watch that is refused with 410 begins the list anew", async (context) => {
    const { removed, versions, counts } = await reflecting(
      context,
      (call, count) => call.answer(200, count === 1 ? page("5", ["a", "gone"]) : page("9", ["a"])),
      (call, count) => {
        if (count === 1) call.answer(410, status(410, "Expired"));
      },
    );
    await until("it watches again", () => counts.watch === 2);
    expect(removed).toEqual(["gone"]);
    expect(versions()).toEqual(["5", "9"]);
  });

  it("c19: has one watch open at most, and comes back by itself after an outage", async (context) => {
    const { present, counts, fake } = await reflecting(
      context,
      (call, count) =>
        count < 3 ? call.answer(503, status(503, "ServiceUnavailable")) : call.answer(200, page("5", ["a"])),
      (call, count) => {
        if (count < 4) call.cut();
        else call.event("ADDED", object("b", "6"));
      },
    );
    await until("it is back", () => present.has("b"));
    expect(counts.mostOpen).toBe(1);
    expect(counts.list).toBe(3);
    expect(fake.lines.filter((line) => line.includes("ServiceUnavailable"))).toHaveLength(1);
  });

  it("b79: logs no key that an answer of the API server quotes, in an error or in a warning", async (context) => {
    const quoted = "no such thing: inf_0123456789abcdef";
    const { fake, present } = await reflecting(
      context,
      (call, count) =>
        count === 1
          ? call.answer(
              503,
              { ...status(503, "ServiceUnavailable"), message: quoted },
              { warning: `299 - "${quoted}"` },
            )
          : call.answer(200, page("5", ["a"])),
      () => {},
    );
    await until("it is back", () => present.has("a"));
    expect(fake.lines).toHaveLength(2);
    for (const line of fake.lines) expect(line).toContain("no such thing: inf_...");
  });

  it("takes nothing from a watch whose JSON is broken, and asks for it again", async (context) => {
    const { present, versions } = await reflecting(
      context,
      (call) => call.answer(200, page("5", [])),
      (call, count) => {
        if (count > 1) return call.event("ADDED", object("b", "7"));
        call.event("ADDED", object("a", "6"));
        call.raw('{"type":"ADDED","object":{"metadata":\n');
      },
    );
    await until("it is there after all", () => present.has("b"));
    expect(versions()).toEqual(["5", "6"]);
  });

  it("puts an event together that comes in pieces", async (context) => {
    const { present } = await reflecting(
      context,
      (call) => call.answer(200, page("5", [])),
      async (call) => {
        const bytes = `${JSON.stringify({ type: "ADDED", object: object("grün", "6") })}\n`;
        for (const piece of bytes.match(/.{1,7}/gs) ?? []) {
          call.raw(piece);
          await new Promise((resolve) => setImmediate(resolve));
        }
      },
    );
    await until("it is there", () => present.has("grün"));
  });

  for (const [what, ends] of [
    ["ended without a word", (call: Call) => call.end()],
    ["was cut", (call: Call) => call.event("BOOKMARK", bookmark("901")) ?? call.cut()],
  ] as const) {
    it(`c25: lists again when the store is older than what was heard of it, after a watch that ${what}`, async (context) => {
      const { fake, present, removed, counts } = await reflecting(
        context,
        (call, count) => call.answer(200, count === 1 ? page("900", ["a", "newer"]) : page("400", ["a"])),
        (call, count) => {
          if (count === 1) ends(call);
          // The store has overtaken what was heard.
          else call.event("BOOKMARK", bookmark("1000"));
        },
        {},
        "400",
      );
      await until("it lists again", () => counts.list === 2);
      await until("what is newer than the store is gone", () => removed.length === 1);
      expect([...present]).toEqual(["a"]);
      expect(removed).toEqual(["newer"]);
      expect(fake.lines).toContainEqual(expect.stringContaining("store is older than what was heard"));
    });
  }

  it("c48: takes no list of a server that is another's, and the next one that is not", async (context) => {
    let confirmations = 0;
    const confirm = async () => {
      if (++confirmations === 2) throw new Error("another cluster");
    };
    const { present, removed, counts, fake } = await reflecting(
      context,
      (call, count) => call.answer(200, page("5", count === 2 ? [] : ["a"])),
      (call, count) => {
        if (count === 1) call.answer(410, status(410, "Expired"));
      },
      { confirm },
    );
    await until("it watches again", () => counts.watch === 2);
    expect([[...present], removed, counts.list, confirmations]).toEqual([["a"], [], 3, 3]);
    expect(fake.lines).toContain("while watching things: another cluster");
  });

  it("c48: takes nothing from a watch that was cut and is opened at another's server", async (context) => {
    let confirmations = 0;
    const confirm = async () => {
      if (++confirmations === 2) throw new Error("another cluster");
    };
    const { present, counts } = await reflecting(
      context,
      (call) => call.answer(200, page("5", ["a"])),
      (call, count) => {
        call.event("ADDED", object(["first", "theirs", "ours"][count - 1] ?? "more", `${5 + count}`));
        if (count === 1) call.cut();
      },
      { confirm },
    );
    await until("it goes on", () => present.has("ours"));
    expect([...present].sort()).toEqual(["a", "first", "ours"]);
    expect([counts.list, confirmations]).toEqual([1, 3]);
  });

  it("c48: lists again once, when the last list was found to be wrong", async (context) => {
    let isWrong = false;
    const mustList = () => {
      const was = isWrong;
      isWrong = false;
      return was;
    };
    const { present, counts } = await reflecting(
      context,
      (call, count) => call.answer(200, page("5", count === 1 ? [] : ["a"])),
      (call, count) => {
        isWrong = count === 1;
        call.event("BOOKMARK", bookmark("5"));
        if (count < 3) call.end();
      },
      { mustList },
    );
    await until("it watches for the third time", () => counts.watch === 3);
    expect([[...present], counts.list]).toEqual([["a"], 2]);
  });
});
