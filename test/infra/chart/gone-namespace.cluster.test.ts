/** A release, and a namespace of its `keyNamespaces` that is not there, or goes. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type LentKubernetes, lendKubernetes } from "../../env/kubernetes/lent.ts";
import { itByNight } from "../../env/night-test.ts";
import { CHART, type Helm, manifestsIn, openHelm, UNCHECKED } from "./helm.ts";

const NAMESPACE = "keyplane-system";
const PAGE = join(import.meta.dirname, "../../../docs/operations/namespaces.md");
const IN_BOTH = ["--set", "keyNamespaces={team-a,team-b}"];
const RELEASE = ["keyplane", CHART, "--namespace", NAMESPACE, ...IN_BOTH, "--set=crds.install=false", UNCHECKED];

/** The tests go on from one another; no kubelet runs the migration, so that what goes further leaves it out. */
describe("a namespace of keyNamespaces", () => {
  let kubernetes: LentKubernetes;
  let home: string;
  let helm: Helm;

  const kubectl = (...args: string[]) => kubernetes.kubectl(args);
  const rolesIn = async (namespace: string) =>
    (await kubectl("get", "roles,rolebindings", "--namespace", namespace, "--output=name")).trim().split("\n").sort();
  const KEYS = ["role.rbac.authorization.k8s.io/keyplane-keys", "rolebinding.rbac.authorization.k8s.io/keyplane-keys"];
  const upgrade = () => helm.helm("upgrade", ...RELEASE, "--no-hooks");

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "keyplane-helm-"));
    kubernetes = await lendKubernetes();
    helm = await openHelm(home, kubernetes);
    for (const name of [NAMESPACE, "team-a"]) await kubectl("create", "namespace", name);
  });

  afterAll(async () => {
    await kubernetes?.close();
    if (home !== undefined) await rm(home, { recursive: true });
  });

  it("c73: that is not there has an installation refused before its hooks, and says what to do", async () => {
    const refused = await helm.runHelm("install", ...RELEASE, "--take-ownership", "--timeout=2s");
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        "keyNamespaces: not there, or being deleted: team-b. Make each first (kubectl create namespace NAME), or leave it out",
      ),
    });
    expect(await kubectl("get", "jobs,networkpolicies", "--namespace", NAMESPACE, "--output=name")).toBe("");
    await kubectl("create", "namespace", "team-b");
    await helm.helm("install", ...RELEASE, "--no-hooks", "--take-ownership");
    expect(await rolesIn("team-b")).toEqual(KEYS);
  });

  it("c73: that goes stops no upgrade: it is left out, and the notes name it", async () => {
    await kubectl("delete", "namespace", "team-b", "--wait");
    expect(await upgrade()).toContain(
      "Of keyNamespaces these are not there, or are being deleted, and have got nothing: team-b.",
    );
    expect(await rolesIn("team-a")).toEqual(KEYS);
    await upgrade();
    await helm.helm("rollback", "keyplane", "2", "--namespace", NAMESPACE, "--no-hooks");
  });

  itByNight("c73: that goes stops no rollback to a revision of before, by the commands of the page", async () => {
    const back = ["rollback", "keyplane", "1", "--namespace", NAMESPACE];
    expect((await helm.runHelm(...back)).stderr).toContain('namespaces "team-b" not found');
    const blocks = [...(await readFile(PAGE, "utf8")).matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
    const block = blocks.find((text) => text.includes("helm rollback"));
    const commands = (block ?? "").replaceAll("NAMESPACE", "team-b").replaceAll("REVISION", "1").trim().split("\n");
    expect(commands).toHaveLength(3);
    for (const command of commands) {
      const [program, ...args] = command.split(" ");
      await (program === "helm" ? helm.helm(...args) : kubectl(...args));
      if (program === "helm") expect(await rolesIn("team-b")).toEqual(KEYS);
    }
    await upgrade();
  });

  it("c73: that is being deleted, and waits, stops no upgrade, and gets its rights again when it is made again", async () => {
    await kubectl("create", "namespace", "team-b");
    const held = { metadata: { name: "held", finalizers: ["example.com/held"] } };
    await kubernetes.request("POST", "/api/v1/namespaces/team-b/configmaps", { body: JSON.stringify(held) });
    await kubectl("delete", "namespace", "team-b", "--wait=false");
    expect(await upgrade()).toContain("have got nothing: team-b.");
    const release = [
      "configmap",
      "held",
      "--namespace=team-b",
      "--type=merge",
      '--patch={"metadata":{"finalizers":[]}}',
    ];
    await kubectl("patch", ...release);
    await kubectl("wait", "--for=delete", "namespace/team-b", "--timeout=60s");
    await kubectl("create", "namespace", "team-b");
    expect(await upgrade()).not.toContain("have got nothing");
    expect(await rolesIn("team-b")).toEqual(KEYS);
  });

  it("c73: is rendered though it is not there where no cluster is asked, as by Argo CD", async () => {
    const rendered = manifestsIn(await helm.render("--set", "keyNamespaces={nowhere}"));
    const roles = rendered.filter(({ kind, metadata }) => kind === "Role" && metadata.namespace === "nowhere");
    expect(roles).toHaveLength(1);
  });
});
