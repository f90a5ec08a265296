/** The commands that read, on a running `keyplane up`: from its data folder, and from its server. */
import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { completeCommands } from "../../cli/output/own-command.ts";
import { main } from "../../cli/program.ts";
import { mintKey } from "../../domain/key/secret/key-format.ts";
import { read } from "../architecture/sources.ts";
import { until } from "../env/until.ts";
import { wordsOf } from "./command-line.ts";
import { key, keyplane, keyplaneProcess, makeHome, startUp, team, tokenOf, type Up } from "./up.ts";

const home = makeHome();
const data = ["--data", home.data];
const LIBRARY = `apiVersion: keyplane.dev/v1alpha1
kind: MemoryLibrary
metadata: { name: handbook, namespace: dev }
spec: {}
---
`;
/** What the page on reading the state speaks of. */
const OF_PAGE = `${LIBRARY.replace("dev }", "research }")}apiVersion: v1
kind: Secret
metadata: { name: provider, namespace: research }
stringData: { api-key: sk-provider }
---
apiVersion: keyplane.dev/v1alpha1
kind: ModelGateway
metadata: { name: main, namespace: research }
spec:
  publicID: research-main
  upstreams:
    - { name: openai, dialect: openai, baseURL: http://127.0.0.1:1, credentialRef: { name: provider, key: api-key } }
  routes: [{ model: fast-chat, routeID: rt-fast, upstream: openai, upstreamModel: m }]
---
${key("my-key", "scopes: [memory:read, memory:write, gateway:generate, gateway:routes]", "research")}`;
let up: Up;
let server: string[];
const getKeys = (source: readonly string[]) =>
  completeCommands("see keyplane get keys", source, {}).replace("see ", "");

beforeAll(async () => {
  home.write("team.yaml", team("research", "dev", "prod", "research") + LIBRARY);
  home.write("page.yaml", OF_PAGE);
  home.write(
    "keys.yaml",
    key("agent") + key("agent", "preset: MCPReadOnly", "prod") + key("unowned", "preset: MCPReadOnly", "other"),
  );
  up = await startUp(home);
  for (const namespace of ["dev", "prod"]) await up.waitFor(namespace, "agent", "Ready");
  await up.waitFor("research", "my-key", "Ready");
  await up.waitFor("other", "unowned", "NamespaceUnclaimed");
  writeFileSync(join(home.data, "token"), tokenOf(home));
  server = ["--server", up.url, "--token-file", join(home.data, "token")];
});
afterAll(async () => {
  await up?.stop();
  home.remove();
});

describe("keyplane get", () => {
  test("shows keys, teams, gateways and libraries, by every name that they have", async () => {
    for (const [kind, line] of [
      ["keys", /^dev +agent +True +Ready +inf_\S{8} +research +memory:read,memory:write +agent +never +never +\w+$/m],
      ["teams", /^research +True +Ready +dev,prod,research +0 +\w+$/m],
      ["pteam", /^research +True +Ready /m],
      ["gateways", /^research +main +True +\S+ +research-main +research +openai +fast-chat +\w+$/m],
      ["libraries", /^dev +handbook +True +Ready /m],
    ] as const) {
      const { code, out } = await keyplane(["get", kind, ...data]);
      expect([code, out]).toEqual([0, expect.stringMatching(line)]);
    }
  });

  test("has the same columns whatever the source", async () => {
    for (const kind of ["keys", "teams", "libraries"]) {
      const [folder, asked] = await Promise.all(
        [data, server].map((source) => keyplane(["get", kind, "-o", "wide", ...source])),
      );
      expect(asked?.out.split("\n")[0]?.split(/ {2,}/)).toEqual(folder?.out.split("\n")[0]?.split(/ {2,}/));
    }
    const { out } = await keyplane(["get", "keys", ...server]);
    expect(out).toMatch(/^dev +agent +<unknown> +Active +inf_\S{8} +research +\S+ +<unknown> +never +never +\w+$/m);
  });

  test("shows one object by its name, and says where there is none", async () => {
    for (const source of [data, server]) {
      for (const name of [["dev/agent"], ["agent", "-n", "dev"]]) {
        const { code, out } = await keyplane(["get", "key", ...name, ...source]);
        expect([code, out.trimEnd().split("\n").length, out]).toEqual([0, 2, expect.stringMatching(/^dev +agent /m)]);
      }
      const one = await keyplane(["get", "key", "dev/agent", "-o", "json", ...source]);
      expect(JSON.parse(one.out).kind).toBe("PlatformKey");
      expect(await keyplane(["get", "key", "dev/none", ...source])).toEqual({
        code: 1,
        out: "",
        err: `keyplane: there is no key dev/none: see ${getKeys(source)}\n`,
      });
      const several = await keyplane(["get", "key", "agent", ...source]);
      expect([several.code, several.err]).toEqual([2, expect.stringContaining("agent in dev, prod: say which")]);
    }
  });

  test("shows what was used, from a folder whose server runs as from a server, and says which flags do not go with it", async () => {
    for (const source of [data, server]) {
      const { code, out } = await keyplane(["get", "usage", "--since", "7d", "--by", "team", "-o", "json", ...source]);
      expect([code, JSON.parse(out)]).toEqual([0, { items: expect.any(Array) }]);
    }
    expect(await keyplane(["get", "usage", "dev/none", ...data])).toEqual({
      code: 1,
      out: "",
      err: expect.stringContaining('There is no key "dev/none"'),
    });
    for (const [args, said] of [
      [["get", "usage", "-l", "app=web"], "-l does not go with get usage"],
      [["get", "keys", "--by", "model"], "--by goes with get usage alone"],
      [["get", "keys", "-o", "csv"], "-o csv goes with get usage alone"],
      [["get", "usage", "--since", "soon"], "write a duration such as 24h or 30d"],
      [["get", "usage", "--kubeconfig", "x"], "usage is counted by servers"],
    ]) {
      const { code, err } = await keyplane([...(args ?? []), ...(args?.includes("--kubeconfig") ? [] : data)]);
      expect([code, err]).toEqual([2, expect.stringContaining(String(said))]);
    }
  });

  test("keeps to a namespace with -n, and shows every kind with all", async () => {
    const { out } = await keyplane(["get", "all", "-n", "dev", ...data]);
    expect(out.match(/^(NAMESPACE|NAME) /gm)).toHaveLength(3);
    expect(out).toMatch(/^dev +agent /m);
    expect(out).toMatch(/^research /m);
    expect(out).not.toMatch(/^prod /m);
  });

  test("-o json and yaml print a list as kubectl would, and -o name what kubectl takes", async () => {
    const { out } = await keyplane(["get", "teams", "-o", "json", ...data]);
    expect(JSON.parse(out)).toMatchObject({
      kind: "List",
      items: [{ apiVersion: "keyplane.dev/v1alpha1", kind: "PlatformTeam", metadata: { name: "research" } }],
    });
    expect(out).not.toContain('"namespace": ""');
    expect(parse((await keyplane(["get", "teams", "-o", "yaml", ...data])).out)).toEqual(JSON.parse(out));
    expect((await keyplane(["get", "teams", "-o", "name", ...data])).out).toBe("platformteam.keyplane.dev/research\n");
    const stored = await keyplane(["get", "all", "-o", "json", ...server]);
    expect(JSON.parse(stored.out).items).toContainEqual(
      expect.objectContaining({ kind: "PlatformKey", name: "agent", namespace: "dev", state: "active" }),
    );
  });

  test("shows some by their labels, in another order, and rows alone", async () => {
    const labelled = (labels: string, name: string, namespace: string) =>
      key(name, "preset: MCPReadOnly", namespace).replace(`name: ${name}`, `name: ${name}, labels: ${labels}`);
    home.write("zebra.yaml", labelled("{ app: zoo }", "zebra", "dev"));
    home.write("ape.yaml", labelled("{ app: zoo, tier: a }", "ape", "prod"));
    await up.waitFor("dev", "zebra", "Ready");
    await up.waitFor("prod", "ape", "Ready");
    const names = async (...args: string[]) =>
      (await keyplane(["get", "keys", "-o", "name", ...args, ...data])).out.replaceAll("platformkey.keyplane.dev/", "");
    expect(await names("-l", "app=zoo")).toBe("zebra\nape\n");
    expect(await names("-l", "app=zoo,!tier")).toBe("zebra\n");
    expect(await names("-l", "app=none")).toBe("");
    expect(await names("-l", "app=zoo", "--sort-by", ".metadata.name")).toBe("ape\nzebra\n");
    expect(await names("-n", "prod", "-A", "-l", "app")).toBe("zebra\nape\n");
    const rows = await keyplane(["get", "keys", "-l", "app", "--no-headers", ...data]);
    expect(rows.out).toMatch(/^dev +zebra .*\nprod +ape .*\n$/);
    const none = await keyplane(["get", "keys", "-l", "app=none", "--no-headers", ...data]);
    expect([none.code, none.out]).toEqual([0, ""]);
    home.write("zebra.yaml", labelled("{ app: moved }", "zebra", "dev"));
    await until("the other label", async () => (await names("-l", "app=moved")) === "zebra\n");
    const refused = await keyplane(["get", "keys", "-l", "app", ...server]);
    expect([refused.code, refused.err]).toEqual([
      2,
      "keyplane: -l: a server knows no labels: give --data or --kubeconfig\n",
    ]);
  });

  test("shows several by their names, and says which there are none of once the others are shown", async () => {
    for (const source of [data, server]) {
      const both = await keyplane(["get", "keys", "dev/agent", "prod/agent", "-o", "json", ...source]);
      expect([both.code, JSON.parse(both.out)]).toEqual([0, expect.objectContaining({ kind: "List" })]);
      expect(JSON.parse(both.out).items).toHaveLength(2);
      const one = await keyplane(["get", "keys", "dev/agent", "dev/none", "dev/nowhere", "--no-headers", ...source]);
      expect([one.code, one.out, one.err]).toEqual([
        1,
        expect.stringMatching(/^dev +agent .*\n$/),
        `keyplane: there is no key dev/none: see ${getKeys(source)}; there is no key dev/nowhere: see ${getKeys(source)}\n`,
      ]);
    }
  });

  test("takes the token from a file or the environment, and no wrong one", async () => {
    const byVariable = await keyplane(["get", "keys", "--server", up.url], { KEYPLANE_TOKEN: tokenOf(home) });
    expect([byVariable.code, byVariable.out]).toEqual([0, expect.stringMatching(/^dev +agent /m)]);
    const wrong = await keyplane(["get", "keys", "--server", up.url], { KEYPLANE_TOKEN: "kpt_wrong" });
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining("refuses the token")]);
  });

  test("says in one line what was written wrongly, and where nothing is to be read", async () => {
    for (const [args, says] of [
      [
        ["get", "pods", ...data],
        "get pods: there is no such kind: write keys, teams, policies, gateways, libraries or all",
      ],
      [["get", "kyes", ...data], "get kyes: there is no such kind: did you mean keys?"],
      [["describe", "kye", "agent", ...data], "describe kye: there is no such kind: did you mean key?"],
      [["get", "all", "agent", ...data], "all takes no name: say of which kind"],
      [["get", "keys", "agent", "-l", "app", ...data], "-l selects among all: give it, or names"],
      [["get", "keys", "-l", "app=a=b", ...data], '-l "app=a=b": write label selectors as kubectl takes them'],
      [["get", "keys", "--sort-by", ".metadata.nmae", ...data], "--sort-by: none of them has metadata.nmae"],
      [["get", "keys"], "say where to look: --data DIR of keyplane up,"],
      [["get", "keys", "--kubeconfig", "/nowhere"], "--kubeconfig: /nowhere: there is no such file"],
      [["get", "keys", "--data", "/nowhere"], "/nowhere is no data folder of keyplane up"],
    ] as const) {
      const { code, out, err } = await keyplane(args);
      expect([code, out, err]).toEqual([2, "", expect.stringMatching(/^keyplane: .*\n$/)]);
      expect(err).toContain(says);
    }
  });

  test.each(["data", "server"])("-w prints what changes at the %s, and ends without a word", async (from) => {
    home.write("watched.yaml", key("watched"));
    await up.waitFor("dev", "watched", "Ready");
    const secret = up.secretOf("dev", "watched");
    let out = "";
    const stop = new AbortController();
    const write = (text: string) => {
      out += text;
    };
    const args = ["get", "keys", "-n", "dev", "-w", ...(from === "data" ? data : server)];
    const watching = main(args, { env: {}, out: write, err: write, stopSignal: () => stop.signal });
    await until("the table", () => /^dev +watched /m.test(out));
    home.write("watched.yaml", key("watched", "preset: MCPReadOnly, state: Suspended"));
    await until("the change", () => /^dev +watched +\S+ +Suspended /m.test(out));
    // At a server the key stays, to be seen.
    rmSync(join(home.manifests, "watched.yaml"));
    const end = from === "data" ? /^dev +watched +False +Deleted /m : /^dev +watched +<unknown> +Revoked /m;
    await until("its end", () => end.test(out));
    stop.abort();
    expect(await watching).toBe(0);
    expect(out.match(/NAMESPACE/g)).toHaveLength(1);
    expect(out).not.toContain("stop");
    expect(out).not.toContain(secret.slice(0, 13));
  });
});

describe("keyplane whoami", () => {
  const keyFile = () => join(home.data, "secrets/dev/agent/api-key");

  test("shows what the key in a file may do, by a server or a running up, and never the key", async () => {
    const secret = up.secretOf("dev", "agent");
    for (const source of [data, ["--server", up.url]]) {
      const { code, out, err } = await keyplane(["whoami", "--key-file", keyFile(), ...source]);
      expect([code, err]).toEqual([0, ""]);
      expect(out).toMatch(
        /^Key: +dev\/agent \(inf_.{8}\.\.\.\)\nId: +key_\w+\nTeam: +research\nScopes: +memory:read\n +memory:write\nLibraries: +all of the team's\n/,
      );
      expect(out).not.toContain(secret.slice(0, 13));
    }
    const asked = ["whoami", "--key-file", keyFile(), "--server", up.url];
    const json = JSON.parse((await keyplane([...asked, "-o", "json"])).out);
    expect(json).toMatchObject({ name: "agent", namespace: "dev", scopes: ["memory:read", "memory:write"] });
    expect(parse((await keyplane([...asked, "-o", "yaml"])).out)).toEqual(json);
  });

  test("b78: takes no key on its command line, and repeats nothing of one", async () => {
    const secret = up.secretOf("dev", "agent");
    for (const args of [
      [secret],
      ["--key-file", secret],
      [`--key=${secret}`],
      ["--key", secret],
      [secret.slice(0, 20)],
    ]) {
      const { code, out, err } = await keyplane(["whoami", ...args, ...data]);
      expect([code, out]).toEqual([2, ""]);
      expect(err).not.toContain(secret.slice(0, 13));
    }
    expect((await keyplane(["whoami", secret, ...data])).err).toMatch(
      /^keyplane: .*command line.*--key-file FILE.*\n$/,
    );
  });

  test("says in one line what the file has instead of a key, and that a server refuses one", async () => {
    const other = join(home.data, "not-a-key");
    writeFileSync(other, "a word");
    for (const [file, code, says] of [
      ["/nowhere", 2, "--key-file /nowhere: there is no such file"],
      [other, 2, `--key-file ${other} holds no key`],
      [join(home.data, "token"), 2, "holds no key"],
    ] as const) {
      const { code: ended, err } = await keyplane(["whoami", "--key-file", file, ...data]);
      expect([ended, err]).toEqual([code, expect.stringMatching(/^keyplane: .*\n$/)]);
      expect(err).toContain(says);
    }
    writeFileSync(other, mintKey(randomBytes));
    const refused = await keyplane(["whoami", "--key-file", other, ...data]);
    expect([refused.code, refused.err]).toEqual([
      1,
      `keyplane: ${up.url} refuses this key: it is not known there, or it is suspended, expired or revoked\n`,
    ]);
    expect((await keyplane(["whoami", ...data])).err).toContain("--key-file is needed");
  });
});

describe("keyplane audit", () => {
  test("shows the latest first, and finds by action, subject, actor and time", async () => {
    await keyplane(["rotate", "dev/agent", ...data]);
    const { code, out } = await keyplane(["audit", ...data]);
    expect([code, out]).toEqual([0, expect.stringMatching(/^TIME +ACTION +ABOUT +TEAM +BY +DETAIL\n20/)]);
    expect(out).toMatch(/^\S+Z +key\.reserved +dev\/agent +research +controller +.*version=1/m);
    const found = async (...filter: string[]) => {
      const { out } = await keyplane(["audit", "-o", "json", "--limit", "0", ...filter, ...server]);
      return out
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line));
    };
    const events = await found();
    expect(events.map(({ at }) => at)).toEqual(events.map(({ at }) => at).toSorted((a, b) => b.localeCompare(a)));
    const requested = await found("--action", "key.rotation_requested", "--since", "1h");
    expect(requested).toMatchObject([{ namespace: "dev", name: "agent", team: "research" }]);
    expect(await found("--about", up.secretOf("dev", "agent").slice(0, 12), "--team", "research")).not.toEqual([]);
    expect(await found("--actor", "absent")).toEqual([]);
    expect(await found("--until", "2020-01-01T00:00:00Z")).toEqual([]);
    expect((await keyplane(["audit", "--limit", "1", ...data])).out.trimEnd().split("\n")).toHaveLength(2);
    expect((await keyplane(["audit", "--actor", "absent", ...data])).out).toBe("nothing was found\n");
  });

  test("refuses a mistyped team or action, as events, import and get usage refuse a name of nothing", async () => {
    for (const command of [
      ["audit", "--team", "nope"],
      ["audit", "--action", "request.refuse"],
      ["events", "nope"],
      ["import", "--team", "nope"],
      ["get", "usage", "--team", "nope"],
    ]) {
      const { code, out, err } = await keyplane([...command, ...data]);
      expect([code, out, err], command.join(" ")).toEqual([1, "", expect.stringMatching(/there is no /i)]);
    }
  });

  test("b78: looks for no whole key, and repeats nothing of one", async () => {
    const secret = up.secretOf("dev", "agent");
    const { code, out, err } = await keyplane(["audit", "--about", secret, ...data]);
    expect([code, out, err]).toEqual([2, "", expect.stringMatching(/^keyplane: --about takes .* 12 characters.*\n$/)]);
    expect(err).not.toContain(secret.slice(0, 13));
  });

  test("names the flag that was written wrongly", async () => {
    for (const flag of [
      ["--since", "yesterday"],
      ["--until", "2026-13-45"],
      ["--limit", "many"],
    ]) {
      const { code, err } = await keyplane(["audit", ...flag, ...data]);
      expect([code, err]).toEqual([2, expect.stringMatching(new RegExp(`^keyplane: ${flag[0]} .*\n$`))]);
    }
  });
});

test.each([["get", "key"], ["describe", "key"], ["events"]])(
  "keyplane %s %s means by a key's id the key that its name means",
  async (...command) => {
    for (const source of [data, server]) {
      const json = JSON.parse((await keyplane(["get", "key", "dev/agent", "-o", "json", ...source])).out);
      const id: string = json.id ?? json.status.keyID;
      const [byId, byName] = [
        await keyplane([...command, id, "-o", "json", ...source]),
        await keyplane([...command, "dev/agent", "-o", "json", ...source]),
      ];
      expect([byId.code, byId.err, byId.out]).toEqual([0, "", byName.out]);
      expect(await keyplane([...command, "key_aaaaaaaaaaaaaaaa", ...source])).toMatchObject({
        code: 1,
        err: expect.stringMatching(/there is no key/i),
      });
    }
  },
);

describe("keyplane events", () => {
  test("shows what happened to one key, or of late to all, with the latest last", async () => {
    for (const source of [data, server]) {
      const { code, out } = await keyplane(["events", "dev/agent", ...source]);
      expect([code, out]).toEqual([0, expect.stringMatching(/^NAMESPACE +LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n/)]);
      const [first = "", ...rows] = out.trimEnd().split("\n").slice(1);
      expect(first).toMatch(
        /^dev +\w+ +Normal +key\.reserved +platformkey\/agent +Version 1 was minted, by controller$/,
      );
      for (const row of rows) expect(row).toMatch(/^dev .* platformkey\/agent /);
      const all = (await keyplane(["events", ...source])).out;
      expect(all).toMatch(/ team\.created +platformteam\/research +Team made, by controller$/m);
      expect(all).not.toMatch(/session|bootstrap_token/);
      expect((await keyplane(["events", "-n", "prod", ...source])).out).not.toMatch(/^dev /m);
    }
    const { out } = await keyplane(["events", "--since", "24h", "-o", "json", ...data]);
    const times: string[] = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).at);
    expect(times).toEqual(times.toSorted());
    expect((await keyplane(["events", "--since", "2100-01-01T00:00:00Z", ...data])).out).toBe("nothing was found\n");
  });
});

describe("keyplane describe", () => {
  test("shows of a key what it is, its conditions, versions, next steps and events, at every source", async () => {
    const folder = await keyplane(["describe", "key", "dev/agent", ...data]);
    expect([folder.code, folder.err]).toEqual([0, ""]);
    expect(folder.out).toMatch(
      /^Name: +agent\nNamespace: +dev\nKind: +PlatformKey\nAge: +\w+\nReady: +True \(Ready\)\n/,
    );
    expect(folder.out).toMatch(/^Secret: +agent, key api-key$/m);
    expect(folder.out).toMatch(/^Conditions:\n {2}TYPE +STATUS +REASON +AGE +MESSAGE\n {2}Ready +True +Ready /m);
    const asked = await keyplane(["describe", "key", "dev/agent", ...server]);
    expect(asked.out).toMatch(/^Ready: +<unknown>$/m);
    for (const { out } of [folder, asked]) {
      expect(out).toMatch(/^Versions:\n {2}VERSION +PREFIX +STATE +MINTED +LAST USED +ENDS\n {2}\d+ +inf_\S{8} /m);
      expect(out).toMatch(
        /^Events:\n {2}LAST SEEN +TYPE +REASON +MESSAGE\n {2}\w+ +Normal +key\.reserved +Version 1 /m,
      );
      expect(out).not.toContain(up.secretOf("dev", "agent").slice(0, 13));
    }
    const { object, events } = JSON.parse(
      (await keyplane(["describe", "key", "dev/agent", "-o", "json", ...data])).out,
    );
    expect(object.metadata.name).toBe("agent");
    expect(events[0]).toMatchObject({ reason: "key.reserved", kind: "PlatformKey", namespace: "dev", name: "agent" });
  });

  test("b163: shows of a key the budgets that a policy asks for, at every source", async () => {
    const policy = `apiVersion: keyplane.dev/v1alpha1
kind: PlatformKeyPolicy
metadata: { name: capped }
spec: { teamSelector: {}, gracePeriod: 1h, budgets: [{ tokens: 900, period: Total }] }
---
`;
    writeFileSync(join(home.manifests, "policy.yaml"), policy);
    const { waitFor } = up;
    await until("the policy is in force", async () =>
      (await keyplane(["get", "policies", ...data])).out.includes("capped"),
    );
    writeFileSync(join(home.manifests, "capped.yaml"), key("capped", "preset: GatewayDefault"));
    await waitFor("dev", "capped", "Ready");
    for (const source of [data, server]) {
      const { out } = await keyplane(["describe", "key", "dev/capped", ...source]);
      expect(out).toMatch(/^Budgets: +900 tokens in all, refuses: 0 used \(0 %\)$/m);
    }
    rmSync(join(home.manifests, "capped.yaml"));
    rmSync(join(home.manifests, "policy.yaml"));
  });

  test("shows of a key with a budget what is used of it, at every source, and its condition", async () => {
    const budgeted = key("budgeted", "preset: GatewayDefault, budgets: [{ tokens: 1000, period: Total }]");
    writeFileSync(join(home.manifests, "budgeted.yaml"), budgeted);
    const ask = async (source: readonly string[]) =>
      (await keyplane(["describe", "key", "dev/budgeted", ...source])).out;
    const folder = await until("it is ready", async () => {
      const out = await ask(data);
      return out.includes("True (Ready)") ? out : undefined;
    });
    expect(folder).toMatch(/^ {2}BudgetExhausted +False +BudgetLeft /m);
    for (const out of [folder, await ask(server)]) {
      expect(out).toMatch(/^Budgets: +1,000 tokens in all, refuses: 0 used \(0 %\)$/m);
    }
    rmSync(join(home.manifests, "budgeted.yaml"));
  });

  test("says what to do about what is not as it should be, and what is not there", async () => {
    const { out } = await keyplane(["describe", "key", "other/unowned", ...data]);
    expect(out).toMatch(/^Ready: +False \(NamespaceUnclaimed\)$/m);
    expect(out).toMatch(
      /^Next steps:\n {2}- Correct the namespace, or add it to spec\.namespaces of a PlatformTeam\.$/m,
    );
    const none = await keyplane(["describe", "key", "dev/none", ...data]);
    expect([none.code, none.err]).toEqual([1, `keyplane: there is no key dev/none: see ${getKeys(data)}\n`]);
    expect((await keyplane(["describe", "pod", "x", ...data])).code).toBe(2);
  });

  test("shows teams and libraries, too", async () => {
    expect((await keyplane(["describe", "team", "research", ...data])).out).toMatch(
      /^Namespaces: +dev\n +prod\n +research$/m,
    );
    for (const source of [data, server]) {
      const { out } = await keyplane(["describe", "library", "dev/handbook", ...source]);
      expect(out).toMatch(/^Team: +research\nOn delete: +Retain$/m);
      expect(out).toMatch(/ library\.created +Library made, by controller$/m);
    }
  });
});

describe("keyplane can-i", () => {
  test("says yes or no and why, of the key in a file and of one that is named, with the exit code", async () => {
    const keyFile = ["--key-file", join(home.data, "secrets/prod/agent/api-key")];
    for (const key of [
      [...keyFile, "--server", up.url],
      ["--as-key", "prod/agent", ...data],
    ]) {
      expect(await keyplane(["can-i", "memory:read", "--library", "dev/handbook", ...key])).toEqual({
        code: 0,
        out: "yes: the key has the scope memory:read\n",
        err: "",
      });
      expect(await keyplane(["can-i", "memory:write", ...key])).toEqual({
        code: 1,
        out: "no: the key lacks the scope memory:write\n",
        err: "",
      });
      const { code, out } = await keyplane(["can-i", "memory:write", "-o", "json", ...key]);
      expect([code, JSON.parse(out)]).toEqual([1, { allowed: false, reason: "the key lacks the scope memory:write" }]);
    }
  });

  test("b78: names what was written wrongly, and repeats nothing that may be a key", async () => {
    const secret = up.secretOf("dev", "agent");
    for (const [args, says] of [
      [["memory:delete"], "there is no such scope: write one of gateway:generate, "],
      [[secret], "there is no such scope"],
      [["memory:read", secret], "--key-file FILE"],
      [["gateway:generate"], "say at which gateway with --gateway ID"],
      [["gateway:embed", "--gateway", "g", "--library", "l"], "--library is for the scopes of the memory"],
      [["memory:read", "--model", "m"], "--gateway and --model are for the scopes of a gateway"],
      [["memory:read", "--key-file", "f", "--as-key", "dev/agent"], "--key-file and --as-key name two keys"],
      [["memory:read", "--as-key", secret], "the beginning of a secret"],
    ] as const) {
      const { code, out, err } = await keyplane(["can-i", ...args, ...data]);
      expect([code, out, err]).toEqual([2, "", expect.stringMatching(/^keyplane: .*\n$/)]);
      expect(err).toContain(says);
      expect(err).not.toContain(secret.slice(0, 13));
    }
  });
});

describe("the page on reading the state", () => {
  const shown = [...read("docs/operations/reading.md").matchAll(/```sh\n([\s\S]*?)```/g)]
    .flatMap(([, text = ""]) => text.trimEnd().split("\n"))
    // What a cluster shows is for reading.cluster.test.ts.
    .filter((line) => !line.includes("--context"));

  test.each(shown)("shows a command that does what it says: %s", async (line) => {
    const values: Readonly<Record<string, string>> = {
      ".keyplane": home.data,
      '"$URL"': up.url,
      token: join(home.data, "token"),
      key: join(home.data, "secrets/research/my-key/api-key"),
    };
    const words = wordsOf(line);
    const args = words.map((word, i) => (words[i - 1]?.startsWith("--") ? (values[word] ?? word) : word));
    const ended = AbortSignal.abort();
    let out = "";
    const write = (text: string) => {
      out += text;
    };
    if (args.includes("-")) {
      const asked = await keyplaneProcess(args, {}, up.secretOf("research", "my-key"));
      expect(asked).toEqual({ code: 0, out: expect.stringMatching(/^Key: +research\/my-key /), err: "" });
      return;
    }
    const code = await main(args, { env: {}, out: write, err: write, stopSignal: () => ended });
    expect([code, out]).toEqual([0, expect.not.stringMatching(/^keyplane: /m)]);
  });
});
