import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { main } from "../../cli/program.ts";
import { findBinaries } from "../env/kubernetes/binaries.ts";
import { inNamespace } from "../env/kubernetes/declarations.ts";
import { keyManifest, teamManifest } from "../env/kubernetes/manifests.ts";
import { describeOnKubernetes } from "../env/kubernetes/of-run.ts";
import { until } from "../env/until.ts";
import { keyplane } from "./up.ts";

const READY = {
  type: "Ready",
  status: "True",
  reason: "Ready",
  message: "",
  lastTransitionTime: "2026-01-01T00:00:00Z",
};

describeOnKubernetes("keyplane get, describe and events", (kubernetes) => {
  const namespace = "cli-get";
  const from = () => ["--kubeconfig", kubernetes().kubeconfigPath];
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "keyplane-get-"));
    await kubernetes().kubectl(["create", "namespace", namespace]);
    const world = inNamespace(kubernetes(), namespace);
    await world.apply(keyManifest("agent") + teamManifest("cli-get", namespace));
    const status = {
      ...{
        keyID: "key_1",
        keyPrefix: "inf_12345678",
        team: "cli-get",
        effectiveScopes: ["memory:read"],
        conditions: [READY],
      },
      ...{ secretRef: { name: "agent" }, lastUsedTime: new Date(Date.now() - 86_400_000 * 3).toISOString() },
    };
    await world.change(`${world.path("platformkeys", "agent")}/status`, { status });
  });
  afterAll(async () => {
    await kubernetes().kubectl(["delete", "platformteam", "cli-get"]);
    await kubernetes().kubectl(["delete", "namespace", namespace, "--wait=false"]);
    await rm(folder, { recursive: true });
  });

  test("shows what the cluster holds, in the columns of every source", async () => {
    const { code, out } = await keyplane(["get", "keys", "-n", namespace, ...from()]);
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(
        /^NAMESPACE +NAME +READY +REASON +PREFIX +TEAM +SCOPES +SECRET +EXPIRES +LAST USED +AGE\ncli-get +agent +True +Ready +inf_12345678 +cli-get +memory:read +agent +never +3d +\d+s\n$/,
      ),
    ]);
    expect((await keyplane(["get", "team", "cli-get", ...from()])).out).toMatch(
      /^cli-get +Unknown +Pending +cli-get +0 +\d+s$/m,
    );
  });

  test("shows some by their labels, as the API server selects them", async () => {
    const world = inNamespace(kubernetes(), namespace);
    await world.apply(keyManifest("labelled").replace("name: labelled", "name: labelled, labels: { app: zoo }"));
    for (const [selector, names] of [
      ["app=zoo", "labelled"],
      ["app in (zoo, park)", "labelled"],
      ["!app", "agent"],
      ["app!=zoo", "agent"],
    ] as const) {
      const { out } = await keyplane(["get", "keys", "-n", namespace, "-l", selector, "-o", "name", ...from()]);
      expect(out, selector).toBe(`platformkey.keyplane.dev/${names}\n`);
    }
    await world.drop(world.path("platformkeys", "labelled"));
  });

  test("prints as JSON what kubectl prints", async () => {
    const { out } = await keyplane(["get", "key", `${namespace}/agent`, "-o", "json", ...from()]);
    const printed = await kubernetes().kubectl([
      "get",
      "platformkeys.v1alpha1.keyplane.dev",
      "agent",
      "-n",
      namespace,
      "-o",
      "json",
    ]);
    expect(JSON.parse(out)).toEqual(JSON.parse(printed));
  });

  test("describe shows a key with what the controller has reported of it, and events shows that alone", async () => {
    const event = (message: string, reportingController: string) => ({
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { generateName: "agent-", namespace },
      eventTime: new Date(Date.now() - 60_000).toISOString().replace("Z", "000Z"),
      ...{ reportingController, reportingInstance: "test", action: "Reconcile", reason: "Minted", type: "Normal" },
      note: message,
      regarding: { apiVersion: "keyplane.dev/v1alpha1", kind: "PlatformKey", name: "agent", namespace },
    });
    for (const [message, reporter] of [
      ["a version was minted", "keyplane.dev/controller"],
      ["not ours", "example.com/other"],
    ] as const) {
      const body = JSON.stringify(event(message, reporter));
      const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
      expect((await kubernetes().request("POST", path, { body })).status).toBe(201);
    }
    const { code, out } = await keyplane(["describe", "key", `${namespace}/agent`, ...from()]);
    expect([code, out]).toEqual([0, expect.stringMatching(/^Secret: +agent, key api-key$/m)]);
    expect(out).toMatch(/^Events:\n {2}LAST SEEN .*\n {2}6\ds +Normal +Minted +a version was minted$/m);
    const row = /^cli-get +6\ds +Normal +Minted +platformkey\/agent +a version was minted$/m;
    for (const filter of [[], ["-n", namespace], [`${namespace}/agent`]]) {
      const events = (await keyplane(["events", ...filter, ...from()])).out;
      expect(events).toMatch(row);
      expect(events).not.toContain("not ours");
    }
    expect((await keyplane(["events", "--since", "10s", "-n", namespace, ...from()])).out).toBe("nothing was found\n");
  });

  test("env has the command by which kubectl reads the key from its Secret, and never the key", async () => {
    await kubernetes().kubectl([
      "create",
      "secret",
      "generic",
      "agent",
      "-n",
      namespace,
      "--from-literal=api-key=inf_test",
    ]);
    const args = ["env", `${namespace}/agent`, ...from()];
    const without = await keyplane(args);
    expect([without.code, without.err]).toEqual([
      2,
      expect.stringContaining("--server is needed, or the variable KEYPLANE_SERVER"),
    ]);
    const { code, out } = await keyplane([...args, "--server", "https://keys.example.com"]);
    expect([code, out]).toEqual([0, expect.not.stringContaining("inf_test")]);
    const { kubectl } = await findBinaries();
    const env = { PATH: `${dirname(kubectl)}:${process.env.PATH}`, HOME: folder };
    const script = 'eval "$1" && printf "%s %s" "$KEYPLANE_BASE_URL" "$KEYPLANE_API_KEY"';
    const { stdout } = await promisify(execFile)("bash", ["-c", script, "bash", out], { env });
    expect(stdout).toBe("https://keys.example.com inf_test");
  });

  test("get -w prints what changes and what goes", async () => {
    const world = inNamespace(kubernetes(), namespace);
    await world.apply(keyManifest("watched"));
    let out = "";
    const write = (text: string) => {
      out += text;
    };
    const stop = new AbortController();
    const args = ["get", "keys", "-w", "-n", namespace, ...from()];
    const watching = main(args, { env: {}, out: write, err: write, stopSignal: () => stop.signal });
    await until("the table", () => /^cli-get +watched +Unknown /m.test(out));
    const status = { conditions: [{ ...READY, status: "False", reason: "SecretLost" }] };
    await world.change(`${world.path("platformkeys", "watched")}/status`, { status });
    await until("the change", () => /^cli-get +watched +False +SecretLost /m.test(out));
    await world.drop(world.path("platformkeys", "watched"));
    await until("its end", () => /^cli-get +watched +False +Deleted /m.test(out));
    stop.abort();
    expect(await watching).toBe(0);
  });

  test("wait ends with the change that it waits for", async () => {
    const world = inNamespace(kubernetes(), namespace);
    const waiting = (what: string) =>
      keyplane(["wait", "key", `${namespace}/awaited`, "--for", what, "--timeout", "2m", ...from()]);
    const ready = waiting("condition=Ready");
    await world.apply(keyManifest("awaited"));
    await world.change(`${world.path("platformkeys", "awaited")}/status`, {
      status: { observedGeneration: 1, conditions: [READY] },
    });
    expect(await ready).toEqual({ code: 0, out: "platformkey.keyplane.dev/awaited condition met\n", err: "" });
    const gone = waiting("delete");
    await world.drop(world.path("platformkeys", "awaited"));
    expect((await gone).code).toBe(0);
  });

  test("wait lists again and again where the user may not watch", async () => {
    const world = inNamespace(kubernetes(), namespace);
    const lister = join(folder, "lister");
    const rules = { apiGroups: ["keyplane.dev"], resources: ["platformkeys"], verbs: ["get", "list"] };
    const role = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "Role",
      metadata: { name: "lister" },
      rules: [rules],
    };
    await kubernetes().kubectl(["apply", "-n", namespace, "-f", "-"], JSON.stringify(role));
    await kubernetes().kubectl(["create", "serviceaccount", "lister", "-n", namespace]);
    const binding = ["--role=lister", `--serviceaccount=${namespace}:lister`];
    await kubernetes().kubectl(["create", "rolebinding", "lister", "-n", namespace, ...binding]);
    writeFileSync(lister, await kubernetes().kubeconfig(await kubernetes().createToken(namespace, "lister")));
    const waiting = keyplane(["wait", "key", `${namespace}/listed`, "--timeout", "2m", "--kubeconfig", lister]);
    await world.apply(keyManifest("listed"));
    await world.change(`${world.path("platformkeys", "listed")}/status`, {
      status: { observedGeneration: 1, conditions: [READY] },
    });
    expect(await waiting).toMatchObject({ code: 0, err: "" });
    await world.drop(world.path("platformkeys", "listed"));
  });

  test("says what is refused, and where no API server answers", async () => {
    const withoutRights = join(folder, "without-rights");
    const token = await kubernetes().createToken(namespace, "default");
    writeFileSync(withoutRights, await kubernetes().kubeconfig(token));
    const refused = await keyplane(["get", "keys", "--kubeconfig", withoutRights]);
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringMatching(/^keyplane: while listing PlatformKeys: platformkeys.keyplane.dev is forbidden: .*\n$/),
    ]);
    const away = join(folder, "away");
    writeFileSync(away, (await kubernetes().kubeconfig(token)).replace(kubernetes().url, "https://127.0.0.1:1"));
    const unreachable = await keyplane(["get", "keys", "--kubeconfig", away]);
    expect([unreachable.code, unreachable.err]).toEqual([
      1,
      expect.stringMatching(/^keyplane: .*see that the cluster's API server runs at https:\/\/127\.0\.0\.1:1\n$/),
    ]);
    const other = await keyplane(["get", "keys", "--context", "prod", ...from()]);
    expect([other.code, other.err]).toEqual([2, expect.stringContaining("has no context prod: it has test")]);
  });
});
