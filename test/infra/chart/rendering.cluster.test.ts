import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { stringify } from "yaml";
import { describeOnKubernetes } from "../../env/kubernetes/of-run.ts";
import { NIGHTLY } from "../../env/nightly.ts";
import {
  CHART,
  complaintsAbout,
  type Helm,
  type Manifest,
  makeNamespaces,
  manifestsIn,
  openHelm,
  refusalsOf,
} from "./helm.ts";

const KUSTOMIZE = join(CHART, "../kustomize");
const KUSTOMIZE_HEADER =
  "# Rendered from infra/chart. Change that and run `npm run test:cluster -- test/infra/chart -u`.\n";
const EXAMPLES = join(CHART, "examples");
const KIND = join(CHART, "../../examples/kind");
const values = (await readdir(EXAMPLES)).filter((file) => file.startsWith("values-")).sort();
/** All that can be asked for at once. */
const EVERYTHING = [
  ...["bootstrapToken.existingSecret=bootstrap", "trustedCa.existingConfigMap=ca", "tls.existingSecret=tls"],
  ...["prices.existingConfigMap=prices", "prices.key=list.yaml"],
  ...["database.ca.existingConfigMap=database-ca", "database.ca.key=root.pem"],
  ...["oidc.audience=keyplane", "oidc.adminGroups={platform admins}", "keyNamespaces={team-a,team-b}"],
  ...["oidc.issuers[0].url=https://a.example.com", "oidc.issuers[0].clientId=keyplane"],
  ...["oidc.issuers[0].clientSecret.name=oidc", "oidc.issuers[0].clientSecret.key=secret"],
  ...["oidc.issuers[1].url=https://b.example.com", "controller.mode=namespaced", "server.autoscaling.enabled=true"],
  ...["ingress.enabled=true", "ingress.className=nginx", "ingress.tlsSecret=tls", "image.pullSecrets={registry}"],
  ...["authz.enabled=true", "authz.tls.existingSecret=authz", "authz.clientCa.existingSecret=proxies"],
  ...["authz.token.existingSecret=proxy-token", "authz.addressHeader=X-Real-IP", "authz.grpc=true"],
  ...["networkPolicy.authzFrom.namespaces={envoy-gateway-system}"],
  ...["ingress.host=keyplane.example.com", "ingress.backendTls=true"],
  ...["server.allowPrivateUpstreams={10.1.0.0/16,fd00::/8}", "server.trustedProxies={10.0.0.0/8}"],
  ...["server.sysctls[0].name=net.ipv4.tcp_wmem", "server.sysctls[0].value=4096 16384 262144"],
  ...["server.extraArgs={--vendor-header=x-acme-api-key}", "controller.nodeSelector.disk=ssd"],
  ...["image.digest=sha256:3f79bb7b435b05321651daefd374cdc681dc06faa65e374e38337b88ca046dea"],
].flatMap((setting) => ["--set", setting]);
/** Texts that YAML takes for a number, a truth value or the key of a map where they are not in quotes. */
const AMBIGUOUS = [
  ...["adminHost=::", "keyNamespaces={2024}", "controller.mode=namespaced", "image.pullSecrets={1}"],
  ...["database.existingSecret=1e3", "database.key=on", "encryptionKey.existingSecret=1", "tls.existingSecret=2"],
  ...["database.ca.existingSecret=8", "database.ca.key=off"],
  ...["authz.tls.existingSecret=10", "authz.clientCa.existingConfigMap=11", "authz.clientCa.key=yes"],
  ...["authz.token.existingSecret=12", "authz.token.key=no", "authz.addressHeader=On"],
  ...[
    "trustedCa.existingConfigMap=3",
    "prices.existingConfigMap=9",
    "controller.priorityClassName=4",
    "oidc.audience=a: b #c",
  ],
  ...["oidc.issuers[0].url=https://a.example.com", "oidc.issuers[0].clientId=a #b"],
  ...["ingress.className=5", "ingress.host=6", "ingress.tlsSecret=7"],
].flatMap((setting) => ["--set-string", setting]);

/** Maps that a default is taken out of, so that nothing is left in them. */
const EMPTIED = ["metrics.dashboard.enabled=true", "metrics.dashboard.labels.grafana_dashboard=null"].flatMap(
  (setting) => ["--set", setting],
);

const VARIANTS: [string, string[]][] = [
  ["the default", []],
  ...values.map((file): [string, string[]] => [file, ["--values", join(EXAMPLES, file)]]),
  ["examples/kind", ["--values", join(KIND, "values.yaml")]],
  ["everything", EVERYTHING],
  ["emptied maps", EMPTIED],
  ["ambiguous texts", ["--set", "ingress.enabled=true,ingress.backendTls=true,authz.enabled=true", ...AMBIGUOUS]],
];

describeOnKubernetes("infra/chart", (kubernetes) => {
  let home: string;
  let helm: Helm;

  const complaints = (text: string) => complaintsAbout(kubernetes(), text);

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "keyplane-helm-"));
    helm = await openHelm(home);
    await makeNamespaces(kubernetes(), "team-a", "team-b", "2024", "research-dev", "research-prod");
  });

  afterAll(async () => {
    if (home !== undefined) await rm(home, { recursive: true });
  });

  /** By day each template is linted, by night with all values: the API server takes what comes of them all. */
  const LINTED = VARIANTS.filter(([name]) => NIGHTLY || name === "everything");

  it.each(LINTED)("has nothing that helm lint complains of: %s", async (_, args) => {
    expect(await helm.helm("lint", "--strict", CHART, ...args)).not.toMatch(/\[(WARNING|ERROR)\]/);
  });

  it.each(VARIANTS)(
    "is taken as a whole by the API server, under restricted Pod Security, without a warning: %s",
    async (name, args) => {
      // The definitions are the same for all values, and take most of the API server's time.
      const definitions = name === "the default" ? [] : ["--set", "crds.install=false"];
      expect(await complaints(await helm.render(...args, ...definitions))).toEqual([]);
    },
  );

  it("has pods that a namespace of restricted Pod Security admits, without an exemption", async () => {
    const rendered = manifestsIn(await helm.render(...EVERYTHING));
    const templates = rendered.flatMap((object) => (podOf(object) === undefined ? [] : [podOf(object)]));
    expect(templates).toHaveLength(3);
    for (const [i, template] of templates.entries()) {
      // Whose ServiceAccount comes with the release.
      const spec = { ...template?.spec, serviceAccountName: "default" };
      const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: `pod-${i}`, namespace: "keyplane-system" }, spec };
      expect(await complaints(JSON.stringify(pod))).toEqual([]);
      const open = { ...pod, spec: { ...spec, securityContext: {} } };
      expect(await complaints(JSON.stringify(open))).toContainEqual(expect.stringContaining("violates PodSecurity"));
    }
  });

  it("believes what is forwarded in those examples alone in which a proxy stands before the servers", async () => {
    const examples = values.map((file) => helm.render("--values", join(EXAMPLES, file), "--set", "crds.install=false"));
    const believing = (await Promise.all(examples)).filter((text) => text.includes("--trusted-proxies="));
    const kinds = believing.map((text) => new Set(manifestsIn(text).map(({ kind }) => kind)));
    expect(kinds.map((of) => of.has("Ingress"))).toEqual([true]);
  });

  it("b109: bounds by a kernel parameter of the servers' pods what the kernel keeps of answers that are not read", async () => {
    const rendered = manifestsIn(await helm.render(...EVERYTHING));
    const contexts = rendered.flatMap((object) => podOf(object)?.spec.securityContext ?? []);
    const sysctls = [{ name: "net.ipv4.tcp_wmem", value: "4096 16384 262144" }];
    expect(contexts.filter((context) => Object.hasOwn(context, "sysctls"))).toMatchObject([{ sysctls }]);
  });

  it("installs, for all values, what crds/ has, and none of it where others look after that", async () => {
    const crds = (text: string) => manifestsIn(text).filter(({ kind }) => kind === "CustomResourceDefinition");
    const own = await Promise.all(
      (await readdir(join(CHART, "../../crds"))).map((file) => readFile(join(CHART, "../../crds", file), "utf8")),
    );
    const rendered = crds(await helm.render());
    expect(rendered.map(({ spec }) => spec)).toEqual(own.flatMap(manifestsIn).map(({ spec }) => spec));
    expect(rendered.map(({ metadata }) => metadata.annotations?.["helm.sh/resource-policy"])).toEqual(
      rendered.map(() => "keep"),
    );
    expect(crds(await helm.render("--set", "crds.install=false"))).toEqual([]);
  });

  it("is, with its default values, what infra/kustomize has", async () => {
    const rendered = manifestsIn(await helm.render("--set", "crds.install=false")).map(withoutHelm);
    const isHook = ({ kind, metadata }: Manifest) => kind === "Job" || metadata.name.endsWith("-migration");
    // The rights are those of infra/rbac, which it builds on.
    const isRight = ({ apiVersion, kind }: Manifest) => apiVersion.startsWith("rbac.") || kind === "ServiceAccount";
    const rest = rendered.filter((object) => !isHook(object) && !isRight(object));
    await expect(KUSTOMIZE_HEADER + yamlOf(rest)).toMatchFileSnapshot(join(KUSTOMIZE, "keyplane.yaml"));
    const migration = join(KUSTOMIZE, "migration/migration.yaml");
    await expect(KUSTOMIZE_HEADER + yamlOf(rendered.filter(isHook))).toMatchFileSnapshot(migration);
  });

  it.each(["", "migration"])("is taken by the API server as infra/kustomize/%s, too", async (folder) => {
    const text = await kubernetes().kubectl(["kustomize", join(KUSTOMIZE, folder)]);
    expect(await complaints(text)).toEqual([]);
  });

  it.each(["", "migration"])("mounts Secrets for the pods' group to read alone: infra/kustomize/%s", async (folder) => {
    const text = await kubernetes().kubectl(["kustomize", join(KUSTOMIZE, folder)]);
    const modes = [...text.matchAll(/defaultMode: (.*)/g)].map(([, mode]) => Number(mode));
    expect(new Set(modes)).toEqual(new Set([0o440]));
  });

  it("stands on the PostgreSQL of examples/kind, which the API server takes", async () => {
    expect(await refusalsOf(kubernetes(), await readFile(join(KIND, "postgres.yaml"), "utf8"))).toEqual([]);
  });

  /** What the schema of the values refuses, which names all that is wrong at once. */
  const MISSHAPEN: [string, string, string][] = [
    ["a name that is none", "server.replica=3", "at '/server': additional properties 'replica' not allowed"],
    ["no Secret for the database", "database.existingSecret=", "at '/database/existingSecret'"],
    ["a mode that is none", "controller.mode=all", "value must be one of 'cluster-wide', 'namespaced'"],
    ["a port as a text", "networkPolicy.databasePort=db", "at '/networkPolicy/databasePort': got string, want integer"],
    ["a URL without a scheme", "publicUrl=keyplane.example.com", "at '/publicUrl'"],
    ["a digest as a tag", "image.digest=latest", "at '/image/digest'"],
    ["a header that is none", "authz.addressHeader=X-Real-IP:", "at '/authz/addressHeader'"],
    ["a namespace that is none", "keyNamespaces={Team_A}", "at '/keyNamespaces/0'"],
    [
      "a value that is taken away",
      "networkPolicy.metricsFrom=null",
      "at '/networkPolicy': missing property 'metricsFrom'",
    ],
    [
      "a budget that no node could be drained by",
      "podDisruptionBudget.maxUnavailable=0%",
      "at '/podDisruptionBudget/maxUnavailable'",
    ],
    [
      "a migration beside a container without an end",
      "migration.extraContainers[0].name=a",
      "at '/migration': additional properties 'extraContainers' not allowed",
    ],
  ];

  it("refuses values of a wrong shape, and says of each of them what is wrong", async () => {
    const settings = MISSHAPEN.flatMap(([, setting]) => ["--set", setting]);
    const { code, stderr } = await helm.runHelm("template", "keyplane", CHART, ...settings);
    expect(code).toBe(1);
    for (const [what, , said] of MISSHAPEN) expect(stderr, what).toContain(said);
  });

  const REFUSED: [string, string, string][] = [
    ["two authorities of the database", "database.ca.existingConfigMap=a,database.ca.existingSecret=b", "not both"],
    [
      "b385: a verifier that knows no proxy",
      "authz.enabled=true,authz.tls.existingSecret=authz",
      "name the authority of the proxies' certificates in authz.clientCa, or the Secret of their token",
    ],
    [
      "two authorities of the proxies",
      "authz.clientCa.existingConfigMap=a,authz.clientCa.existingSecret=b",
      "authz.clientCa: name a ConfigMap or a Secret, not both",
    ],
    [
      "b385: certificates of proxies without TLS, under which none would be asked for",
      "authz.enabled=true,authz.clientCa.existingSecret=proxies,authz.token.existingSecret=token",
      "name the Secret of the verifier's own certificate in authz.tls.existingSecret",
    ],
    ["gRPC of a verifier that is not there", "authz.grpc=true", "say authz.enabled=true"],
    [
      "an address as the range of a proxy",
      "networkPolicy.authzFrom.cidrs={10.0.0.1}",
      "networkPolicy.authzFrom.cidrs: 10.0.0.1 is no range",
    ],
    ["a volume of the verifier's", "server.extraVolumes[0].name=authz-tls", "the name authz-tls is the chart's own"],
    [
      "a mode without its namespaces",
      "controller.mode=namespaced",
      "name the namespaces that it serves in keyNamespaces",
    ],
    ["an issuer without an audience", "oidc.issuers[0].url=https://a.example.com", "say in oidc.audience"],
    ["an audience without an issuer", "oidc.audience=keyplane", "name it in oidc.issuers"],
    ["rights on the Secrets of its own namespace", "keyNamespaces={default}", "default holds no keys"],
    ["rights on the cluster's own Secrets", "keyNamespaces={kube-system}", "kube-system holds no keys"],
    ["a range that is none", "server.trustedProxies={10.0.0.0/99}", "10.0.0.0/99 is no range of addresses"],
    [
      "a range of IPv6 that is none",
      "server.allowPrivateUpstreams={fd00::/129}",
      "fd00::/129 is no range of addresses",
    ],
    ["a network that begins elsewhere", "server.trustedProxies={10.0.0.1/8}", "10.0.0.1/8 has bits behind its length"],
    ["an address that is none", "server.trustedProxies={10.0.0.256}", "server.trustedProxies: 10.0.0.256 is no range"],
    ["an address of IPv6 that is none", "server.trustedProxies={fd00:1}", "fd00:1 is no range of addresses"],
    [
      "an address as a NetworkPolicy's range",
      "networkPolicy.databaseTo.cidrs={10.0.0.1}",
      "databaseTo.cidrs: 10.0.0.1 is",
    ],
    ["an ingress without a host", "ingress.enabled=true", "name its host in ingress.host"],
    [
      "an ingress at another host than the public URL's",
      "ingress.enabled=true,ingress.host=a.example.com,publicUrl=https://b.example.com:8443",
      "ingress.host is a.example.com, and publicUrl leads to b.example.com",
    ],
    [
      "an ingress with a certificate for a public URL without TLS",
      "ingress.enabled=true,ingress.tlsSecret=tls,publicUrl=http://a.example.com",
      "publicUrl is one of http",
    ],
    [
      "servers that speak TLS behind an ingress that does not",
      "ingress.enabled=true,ingress.host=a.example.com,tls.existingSecret=tls",
      "say ingress.backendTls=true",
    ],
    [
      "an ingress that speaks TLS to servers that do not",
      "ingress.enabled=true,ingress.host=a.example.com,ingress.backendTls=true",
      "name its Secret in tls.existingSecret",
    ],
    ["a common label by which pods are found", "commonLabels.app\\.kubernetes\\.io/name=mine", "is the chart's own"],
    ["a variable that the chart sets", "controller.extraEnv[0].name=NODE_OPTIONS", "NODE_OPTIONS is set by the chart"],
    ["a volume that the chart has", "migration.extraVolumes[0].name=database", "the name database is the chart's own"],
    ["a container twice", "server.extraContainers[0].name=a,server.initContainers[0].name=a", "or there twice"],
    [
      "rights on Secrets for any pod of its namespace",
      "controller.serviceAccount.create=false",
      "name the one that is there",
    ],
    [
      "rights on Secrets for any pod of its namespace, by the name of their account",
      "controller.serviceAccount.create=false,controller.serviceAccount.name=default",
      "never given to the namespace's own account",
    ],
    [
      "one account that is made twice, and deleted with each upgrade",
      "migration.serviceAccount.create=true,migration.serviceAccount.name=keyplane-controller",
      "name another",
    ],
    ["IPv6 that the admin port does not hear", "service.ipFamilies={IPv6}", "say adminHost=::"],
    [
      "one stack with two families",
      "service.ipFamilies={IPv4,IPv6},adminHost=::,service.ipFamilyPolicy=SingleStack",
      "is SingleStack",
    ],
    ["as many pods that have to stay as there are", "podDisruptionBudget.minAvailable.server=2", "could be drained"],
    [
      "a part of the pods that Kubernetes rounds up to all of them",
      "podDisruptionBudget.minAvailable.controller=51%",
      "podDisruptionBudget.minAvailable.controller comes to 2 of 2",
    ],
    [
      "an autoscaler by a CPU that is not requested",
      "server.autoscaling.enabled=true,server.resources.requests.cpu=null",
      "say server.resources.requests.cpu",
    ],
    [
      "a kind that a cluster without the Prometheus Operator lacks, where that is asked for",
      "metrics.serviceMonitor.enabled=true,metrics.renderMode=failIfMissing",
      "the cluster has no kind ServiceMonitor",
    ],
    ["an autoscaler upside down", "server.autoscaling.minReplicas=20", "minReplicas must be at most maxReplicas"],
  ];

  it.each(REFUSED)("refuses %s, and says which value and what to do", async (_, setting, said) => {
    const { code, stderr } = await helm.runHelm("template", "keyplane", CHART, "--set", setting);
    expect(code).toBe(1);
    expect(stderr).toContain(said);
  });

  it("takes ranges of both families, and single addresses where those will do", async () => {
    const ranges = ["10.0.0.0/8", "0.0.0.0/0", "192.168.1.7", "::1", "fd00::/8", "2001:db8:0:0:1:2:3:4/128"];
    const rendered = await helm.render("--set-json", `server.trustedProxies=${JSON.stringify(ranges)}`);
    expect(rendered).toContain(`--trusted-proxies=${ranges}`);
  });

  it.each(["keyplane.prod", "1"])(
    "refuses to be a release whose Service could not be called so: %s",
    async (release) => {
      const { code, stderr } = await helm.runHelm("template", release, CHART);
      expect(code).toBe(1);
      expect(stderr).toContain("set fullnameOverride to a name that begins with a letter and has no dot");
      await helm.helm("template", release, CHART, "--set=fullnameOverride=keyplane");
    },
  );

  it("c72: has the controllers of a release lead by one Lease, whatever namespaces they serve", async () => {
    const leasesOf = (text: string) => [...text.matchAll(/--lease-name=\S+/g)].map(([flag]) => flag);
    const serving = (...names: string[]) => [`--set=keyNamespaces={${names}}`, "--set=controller.mode=namespaced"];
    for (const args of [[], serving("team-a", "team-b"), serving("team-b")]) {
      expect(leasesOf(await helm.render(...args))).toEqual(["--lease-name=keyplane-controller"]);
      const other = await helm.helm("template", "other", CHART, ...args);
      expect(leasesOf(other)).toEqual(["--lease-name=other-keyplane-controller"]);
    }
  });

  it("migrates where controllers may run", async () => {
    const settings = { nodeSelector: { pool: "platform" }, tolerations: [{ key: "pool", operator: "Exists" }] };
    const rendered = manifestsIn(await helm.render("--set-json", `controller=${JSON.stringify(settings)}`));
    const job = rendered.find(({ kind }) => kind === "Job");
    expect(job && podOf(job)?.spec).toMatchObject(settings);
  });

  it.each([
    ["cluster-wide", ["--set", "keyNamespaces={team-a,team-b}"]],
    ["namespaced", ["--set", "keyNamespaces={team-a,team-b}", "--set", "controller.mode=namespaced"]],
  ])("b71: grants a %s controller what infra/rbac does, and nothing more", async (_, args) => {
    const file = async (name: string) => manifestsIn(await readFile(join(CHART, "../rbac", name), "utf8"));
    const inNamespace = (namespace: string) => (object: Manifest) => ({
      ...object,
      metadata: { ...object.metadata, namespace },
    });
    const narrow = await file("namespace.yaml");
    const own = [
      ...(await file("controller.yaml")),
      ...["team-a", "team-b"].flatMap((name) => narrow.map(inNamespace(name))),
    ];
    expect(grantsOf(manifestsIn(await helm.render(...args)))).toEqual(grantsOf(own));
  });

  it("has the roles of users that infra/rbac has", async () => {
    const own = manifestsIn(await readFile(join(CHART, "../rbac/users.yaml"), "utf8"));
    const rendered = manifestsIn(await helm.render());
    expect(own.map(({ metadata }) => metadata.name)).toEqual(["keyplane-view", "keyplane-edit"]);
    for (const role of own) {
      expect(
        rendered.find(({ kind, metadata }) => kind === role.kind && metadata.name === role.metadata.name),
      ).toMatchObject(role);
    }
  });
});

/** As a user without Helm would apply it. */
function withoutHelm(object: Manifest): Manifest {
  const { annotations = {}, labels = {}, ...metadata } = object.metadata;
  const kept = (entries: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(entries).filter(([name]) => !name.startsWith("helm.sh/") && !name.endsWith("/managed-by")),
    );
  const rest = Object.keys(kept(annotations)).length === 0 ? {} : { annotations: kept(annotations) };
  return { ...object, metadata: { ...metadata, labels: kept(labels), ...rest } };
}

const yamlOf = (objects: readonly Manifest[]) => objects.map((object) => stringify(object)).join("---\n");

type PodTemplate = { readonly spec: Readonly<Record<string, unknown>> };

function podOf({ spec }: Manifest): PodTemplate | undefined {
  return typeof spec === "object" && spec !== null && "template" in spec ? (spec.template as PodTemplate) : undefined;
}

/** Who is granted what, and where, whatever the names of Roles are. */
function grantsOf(objects: readonly Manifest[]): string[] {
  return objects
    .filter(({ apiVersion, kind }) => apiVersion.startsWith("rbac.") && kind.endsWith("Binding"))
    .map(({ kind, metadata, subjects, roleRef }) => {
      const { kind: roleKind, name } = roleRef as { kind: string; name: string };
      const role = objects.find(
        (object) =>
          object.kind === roleKind && object.metadata.name === name && object.metadata.namespace === metadata.namespace,
      );
      return JSON.stringify([kind, metadata.namespace, subjects, role?.rules]);
    })
    .sort();
}
