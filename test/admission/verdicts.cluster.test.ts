import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import type { Spec } from "../../domain/kinds/kinds.ts";
import { CLIMBING, SCOPES_OUTSIDE_THE_LIST } from "../domain/manifest/abuse-cases.ts";
import { mutate, mutation, VALID } from "../domain/manifest/mutations.ts";
import { errorsOf, key, manifest, readText, storedSpec, team, warningsOf } from "../domain/manifest/read.ts";
import { MISTAKE_CASES } from "../domain/manifest/validation/mistake-cases.ts";
import { RULE_CASES } from "../domain/manifest/validation/rule-cases.ts";
import { describeOnKubernetes } from "../env/kubernetes/of-run.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { apply, createNamespaces, remove, urlOf } from "./apply.ts";

/** Where kubectl helps out, and a file that is to be read without it has to say more. */
const KUBECTL_HELPS = ["no namespace", "a team in a namespace"];
const MISTAKES = MISTAKE_CASES.filter(([mistake]) => !KUBECTL_HELPS.includes(mistake));

/** What is refused here and taken by the API server: nothing where text should be, and a name that no record can have. */
const STRICTER =
  /(^(metadata\.(labels|annotations)|data|stringData)\b.*: must be text)|a field's name must be plain text/;

/** How many changed manifests are tried. */
const CHANGED = NIGHTLY ? 1_000 : 60;

/** Not quite the longest that can be written. */
const LONGEST = "{ mode: Fixed, duration: 999999h999999h }";

describeOnKubernetes("`keyplane validate` and the API server", (kubernetes) => {
  beforeAll(() => createNamespaces(kubernetes(), ["team-a", "research-dev", "n1", "2"]));

  async function expectVerdict(accepted: boolean, text: string, old?: Spec): Promise<void> {
    const online = await apply(kubernetes(), text, { dryRun: true });
    const offline = errorsOf(text, old);
    expect(online.accepted, online.message).toBe(accepted);
    expect(offline.length === 0, offline.join()).toBe(accepted);
  }

  describe.each(RULE_CASES)("$rule", ({ accepts, refuses, says, old }) => {
    const stored = old === undefined ? undefined : storedSpec(old);

    /** With the earlier one stored meanwhile, where the rule is about a change. */
    async function afterOld(body: () => Promise<void>): Promise<void> {
      if (old === undefined) return body();
      expect(await apply(kubernetes(), old)).toMatchObject({ accepted: true });
      await body().finally(() => remove(kubernetes(), old));
    }

    test.each(accepts)("both accept %s", (text) => afterOld(() => expectVerdict(true, text, stored)));
    test.each(refuses)("both refuse, in the same words, %s", (text) =>
      afterOld(async () => {
        await expectVerdict(false, text, stored);
        const [offline = ""] = errorsOf(text, stored);
        expect(offline).toContain(says);
        const online = await apply(kubernetes(), text, { dryRun: true });
        expect(online.diagnostics.map(withoutValue)).toContain(offline);
      }),
    );
  });

  test.each(["Europe/Atlantis", "BST", "IST"])(
    "both refuse the time zone %s, which is none: the API server says so itself, since no rule can go on from that",
    async (timeZone) => {
      const text = key(`{ preset: MCPReadOnly, budgets: [{ tokens: 9, period: Day, timeZone: ${timeZone} }] }`);
      await expectVerdict(false, text);
      expect(errorsOf(text)).toEqual([expect.stringContaining("timeZone is none that is known")]);
      const { message } = await apply(kubernetes(), text, { dryRun: true });
      expect(message).toContain(`unknown time zone ${timeZone}`);
    },
  );

  test.each(["EST", "MST", "HST", "CET", "MET", "EET", "WET", "GMT", "UTC", "UCT", "PRC", "ROC", "ROK"])(
    "both take the time zone %s, which IANA knows",
    (timeZone) =>
      expectVerdict(true, key(`{ preset: MCPReadOnly, budgets: [{ tokens: 9, period: Day, timeZone: ${timeZone} }] }`)),
  );

  test.each(["500001h", "640512h", "999999h", "999999h999999h", "999999h999999h9h"])(
    "b290: both take %s for an interval, of which four are no duration",
    (interval) =>
      expectVerdict(true, key(`{ preset: MCPReadOnly, rotation: { interval: ${interval}, overlap: ${LONGEST} } }`)),
  );

  test("b290: both refuse the longest overlap beside an interval that is a moment too short for it", () =>
    expectVerdict(false, key(`{ preset: MCPReadOnly, rotation: { interval: 499999h, overlap: ${LONGEST} } }`)));

  const inZone = (timeZone: string) =>
    key(`{ preset: MCPReadOnly, budgets: [{ tokens: 9, period: Day, timeZone: ${timeZone} }] }`);

  test.each(["europe/berlin", "utc", "est", "posix/Europe/Berlin", "right/UTC", "localtime", "Europe//Berlin"])(
    "b291: both refuse the time zone %s, which one of them knew, in the same words",
    async (timeZone) => {
      await expectVerdict(false, inZone(timeZone));
      const { message } = await apply(kubernetes(), inZone(timeZone), { dryRun: true });
      expect(message).toContain("timeZone is none that is known: write an IANA name");
      expect(message).not.toContain("unknown time zone");
    },
  );

  test.each([
    "America/Port-au-Prince",
    "America/Argentina/ComodRivadavia",
    "EST5EDT",
    "GMT+0",
    "NZ-CHAT",
    "Asia/Ust-Nera",
  ])("b291: both take the time zone %s", (timeZone) => expectVerdict(true, inZone(timeZone)));

  test("a public id that was generated does not change either", async () => {
    const upstreams = "upstreams: [{ name: u, dialect: openai, baseURL: 'https://x', credentialRef: { name: s } }]";
    const gateway = (rest: string) =>
      manifest("ModelGateway", `{ ${rest}${upstreams} }`, { name: "g", namespace: "team-a" });
    await apply(kubernetes(), gateway(""));
    const status = "/apis/keyplane.dev/v1alpha1/namespaces/team-a/modelgateways/g/status";
    const contentType = "application/merge-patch+json";
    await kubernetes().request("PATCH", status, { contentType, body: '{"status":{"publicID":"given"}}' });
    const says = "write the one in status.publicID, or declare another ModelGateway";
    expect(await apply(kubernetes(), gateway("publicID: other, "))).toMatchObject({
      accepted: false,
      diagnostics: [expect.stringContaining(says)],
    });
    expect(await apply(kubernetes(), gateway("publicID: given, "))).toMatchObject({ accepted: true });
    await remove(kubernetes(), gateway(""));
  });

  test.each(MISTAKES)("both refuse a mistake and accept its correction: %s", async (_, accepted, refused) => {
    await expectVerdict(true, accepted);
    await expectVerdict(false, refused);
  });

  test.each(CLIMBING)("b67: both refuse %s that climbs out of its place", (_, text) => expectVerdict(false, text));

  test.each(["kube-system", "kube-public", "kube-node-lease"])("b96: both refuse a team that claims %s", (namespace) =>
    expectVerdict(false, manifest("PlatformTeam", `{ namespaces: [${namespace}] }`, { name: "climbing" })),
  );

  test("b67: a Secret of another namespace cannot even be named", async () => {
    await expectVerdict(false, key("{ preset: MCPReadOnly, secret: { name: x, namespace: other } }"));
    const source = "{ type: ImportSecret, secretRef: { name: x, namespace: other } }";
    await expectVerdict(false, key(`{ preset: MCPReadOnly, source: ${source} }`));
  });

  test.each(SCOPES_OUTSIDE_THE_LIST)("b72: both refuse %s in scopes", (_, scopes) =>
    expectVerdict(false, key(`{ scopes: ${scopes} }`)),
  );

  test("of whatever is changed in a manifest both say the same, and store the same", async () => {
    const changed = fc.record({
      valid: fc.constantFrom(...VALID),
      changes: fc.array(mutation, { minLength: 1, maxLength: 2 }),
    });
    const verdicts = { accepted: 0, refused: 0 };
    for (const { valid, changes } of fc.sample(changed, { numRuns: CHANGED, seed: 36 })) {
      const text = JSON.stringify(changes.reduce<unknown>(mutate, valid));
      // What has no place in the API is left to the table above: it is kubectl's to refuse.
      if (urlOf(text) === undefined) continue;
      const online = await apply(kubernetes(), text, { dryRun: true });
      if (/^namespaces ".*" not found$/.test(online.message)) continue;
      const { manifests } = readText(text);
      const offline = errorsOf(text);
      if (online.accepted && offline.length > 0 && offline.every((error) => STRICTER.test(error))) continue;
      expect(offline.length === 0, `${text}\n${online.message}\n${offline}`).toBe(online.accepted);
      verdicts[online.accepted ? "accepted" : "refused"]++;
      const [read] = manifests;
      if (online.accepted && read?.kind !== "Secret") expect(online.stored).toMatchObject({ spec: read?.spec });
    }
    expect(Math.min(verdicts.accepted, verdicts.refused)).toBeGreaterThan(CHANGED / 10);
  });
});

describeOnKubernetes("`keyplane validate` and the API server differ where a file is all there is:", (kubernetes) => {
  beforeAll(() => createNamespaces(kubernetes(), ["team-a"]));

  test.each([
    ["kubectl takes its context's namespace", manifest("MemoryLibrary", "{}", { name: "a" }), "metadata.namespace"],
    ["kubectl leaves a team's namespace out", manifest("PlatformTeam", "{}"), "metadata.namespace"],
    [
      "nothing where a label's text should be is no text",
      manifest("PlatformTeam", "{}", { name: "a", labels: { a: null } }),
      "metadata.labels.a",
    ],
  ])("%s; we refuse it", async (_, text, path) => {
    expect(await apply(kubernetes(), text, { dryRun: true })).toMatchObject({ accepted: true });
    expect(errorsOf(text)).toEqual([expect.stringContaining(`${path}: `)]);
  });

  test.each([
    ["YAML 1.1 takes y for a boolean", key("{ preset: MCPReadOnly, displayName: y }"), "spec.displayName"],
    ["a uid is of an object that exists", team("{}").replace("{", '{ "uid": "0", '), "metadata.uid"],
    [
      "managedFields are the server's own",
      team("{}").replace("{", '{ "managedFields": [{ "manager": "x" }], '),
      "metadata.managedFields",
    ],
  ])("%s, and the API server refuses it; we warn", async (_, text, path) => {
    expect(await apply(kubernetes(), text, { dryRun: true })).toMatchObject({ accepted: false });
    expect(errorsOf(text)).toEqual([]);
    expect(warningsOf(text)).toEqual([expect.stringContaining(`${path}: `)]);
  });
});

/** A fault as the rule says it, without what the API server shows of the value. */
function withoutValue(diagnostic: string): string {
  return diagnostic.replace(/: Invalid value: ("(?:[^"\\]|\\.)*": )?/, ": ");
}
