/**
 * An installation as its operator breaks it, or as it fails of itself: each time doctor or an alert says so, and the
 * commands that they and their pages give mend it. On a node that runs pods.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Finding } from "../../../cli/doctor/finding.ts";
import { openPostgres } from "../../../store/database/postgres/postgres.ts";
import { makeCertificate } from "../../env/certificate.ts";
import { startPgbouncer } from "../../env/database/pgbouncer.ts";
import { type OwnPostgresServer, startOwnPostgres } from "../../env/database/postgres.ts";
import { migrateAsPrevious } from "../../env/database/previous-version.ts";
import { findHelm } from "../../env/helm.ts";
import type { StartedKubernetes } from "../../env/kubernetes.ts";
import { type FollowedService, followService, startBalancer } from "../../env/node/balancer.ts";
import { NODE_ADDRESS } from "../../env/node/namespaces.ts";
import { startNode } from "../../env/node.ts";
import { until } from "../../env/until.ts";
import * as manifests from "../workload/manifests.ts";
import { createOperator, type Operator, RUNBOOKS } from "./operator.ts";
import { blocksOf, commandsIn, fillIn, openTerminal, type Terminal } from "./pages.ts";

const NAMESPACE = "keyplane-system";
const TEAM = "team-a";
const SERVICE = { host: NODE_ADDRESS, port: 8000 };
const URL_OF_SERVICE = `http://${SERVICE.host}:${SERVICE.port}`;
const RESTART = `kubectl rollout restart deployment -n ${NAMESPACE} -l app.kubernetes.io/name=keyplane`;

/** The tests go on from one another: what one breaks it mends. */
describe("an installation that is broken", () => {
  let kubernetes: StartedKubernetes;
  let postgres: OwnPostgresServer;
  /** Where it listens. */
  let own: URL;
  let terminal: Terminal;
  let operator: Operator;
  let service: FollowedService;
  const closers: (() => unknown)[] = [];

  const run = (script: string) => terminal.run(fillIn(script, { team: TEAM, url: URL_OF_SERVICE }));
  /** A block or a command of a page, by a word in it. */
  const from = (texts: readonly string[], word: string): string => {
    const found = texts.find((text) => text.includes(word));
    if (found === undefined) throw new Error(`no page has a command with ${word}`);
    return found;
  };
  const upgrade = () => run(from(blocksOf("docs/operations/upgrading.md", "Upgrade"), "helm upgrade"));
  /** Does what doctor says. */
  const act = async (name: Parameters<Operator["actionOf"]>[0]) =>
    run((await operator.actionOf(name)).replaceAll("URL", '"$(cat database-url)"'));

  async function query(...statements: string[]): Promise<void> {
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  }
  /** The database's URL as pods reach it, or that of what is between. */
  const urlFor = (password: string, { port }: URL) =>
    `postgres://keyplane:${password}@${NODE_ADDRESS}:${port}/keyplane?sslmode=disable`;
  const saveUrl = (url: string) => writeFile(join(terminal.folder, "database-url"), `${url}\n`);
  const useUrl = () =>
    run(from(blocksOf("docs/operations/database-connection.md", "Another URL of the database"), "keyplane-database"));
  /** Lets pods reach what listens on loopback. */
  async function expose({ port }: URL): Promise<void> {
    const at = { host: NODE_ADDRESS, port: Number(port) };
    const balancer = await startBalancer(at, () => ({ ...at, host: "127.0.0.1" }));
    closers.push(balancer.close);
  }
  const keyOf = async (name: string) =>
    Buffer.from(await run(`kubectl get secret ${name} -n ${TEAM} -o jsonpath={.data.api-key}`), "base64").toString();
  async function isWhole(): Promise<void> {
    await operator.seesNothing();
    await until("callers are let in", async () => {
      const headers = { authorization: `Bearer ${await keyOf("first")}` };
      return (await fetch(`${URL_OF_SERVICE}/atoms?limit=1`, { headers })).status === 200;
    });
  }
  const declareKey = () =>
    kubernetes.kubectl(["apply", "--server-side", "--filename=-"], manifests.list([manifests.key("first", TEAM, {})]));

  beforeAll(async () => {
    [kubernetes, postgres] = await Promise.all([startNode(), startOwnPostgres()]);
    terminal = await openTerminal(kubernetes.kubeconfigPath, {
      kubectl: kubernetes.address.kubectl,
      helm: await findHelm(),
    });
    operator = createOperator(terminal);
    await query("create role keyplane login password 'first'", "create database keyplane owner keyplane");
    own = new URL(postgres.url);
    await expose(own);
    await saveUrl(urlFor("first", own));
    await run("kubectl delete -f crds/");
    await run(blocksOf("README.md", "Production, on Kubernetes")[0] ?? "");
    await writeFile(
      join(terminal.folder, "values.yaml"),
      fillIn(blocksOf("docs/operations/kubernetes.md", "Installing")[1] ?? "", { team: TEAM, url: URL_OF_SERVICE }),
    );
    service = followService(kubernetes, NAMESPACE, "keyplane-server");
    const balancer = await startBalancer(SERVICE, service.next);
    closers.push(service.close, balancer.close);
    await kubernetes.kubectl(["apply", "--filename=-"], manifests.list([manifests.team("team-a", [TEAM])]));
    await declareKey();
    await run(`kubectl wait --for=condition=Ready platformkey/first -n ${TEAM} --timeout=120s`);
    await isWhole();
  });

  afterEach(async ({ task }) => {
    if (task.result?.state !== "fail") return;
    console.log(await run(`kubectl get pods,leases -A; kubectl get keyplane -A -o wide || true`));
    console.log(await run(`kubectl logs -n ${NAMESPACE} -l app.kubernetes.io/name=keyplane --prefix --tail=5`));
  });

  afterAll(async () => {
    for (const close of closers) await close();
    await terminal?.close();
    await postgres?.stop();
    await kubernetes?.close();
  });

  it("by another encryption key gets the right one back", async () => {
    await run(`openssl rand -base64 32 > other
      kubectl create secret generic keyplane-encryption-key -n ${NAMESPACE} --from-file=encryption-key=other --dry-run=client -o yaml | kubectl replace -f -
      ${RESTART}`);
    await operator.sees(["encryption-key"], ["KeyplaneProcessDown"]);
    await run(from(blocksOf("docs/operations/encryption-keys.md", "Rotating"), "kubectl create secret"));
    await isWhole();
  });

  it("by another password of the database gets the new URL", async () => {
    await query(
      "alter role keyplane password 'second'",
      "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'keyplane'",
    );
    await operator.sees(["database-connection"], ["KeyplaneNotServing", "KeyplaneDatabaseErrors"]);
    await saveUrl(urlFor("second", own));
    await useUrl();
    await isWhole();
  });

  it("by a pooler in transaction mode gets the URL of the database itself", async () => {
    const direct = Object.assign(new URL(urlFor("second", own)), { hostname: own.hostname });
    const pooler = await startPgbouncer(direct.href, "transaction");
    closers.push(pooler.stop);
    const url = new URL(pooler.url);
    await expose(url);
    await saveUrl(urlFor("second", url));
    await run(`kubectl create secret generic keyplane-database -n ${NAMESPACE} --from-file=url=database-url --dry-run=client -o yaml | kubectl replace -f -
      ${RESTART}`);
    await operator.sees(["database-notifications", "database-session"], ["KeyplaneProcessDown"]);
    await saveUrl(urlFor("second", own));
    await useUrl();
    await isWhole();
  });

  it("by a database that is down goes on once it is up", async () => {
    await postgres.kill();
    await operator.sees(["database-connection"], ["KeyplaneNotServing", "KeyplaneDatabaseErrors"]);
    await postgres.restart();
    await isWhole();
  });

  it("by a backup of an older version is migrated, and makes its keys again", async () => {
    await run(from(commandsIn("docs/operations/database.md", "Backing up and restoring"), "scale"));
    await run(`kubectl wait --for=delete pod -n ${NAMESPACE} -l app.kubernetes.io/name=keyplane --timeout=120s`);
    await query("drop database keyplane with (force)", "create database keyplane owner keyplane");
    const store = await openPostgres(urlFor("second", own));
    await migrateAsPrevious(store);
    await store.close();
    await run(`kubectl scale deployment -n ${NAMESPACE} -l app.kubernetes.io/name=keyplane --replicas=2`);
    await operator.sees(["database-schema"], ["KeyplaneNotServing"]);
    await act("database-schema");
    await upgrade();
    await isWhole();
  });

  it("by controllers that were scaled to none gets them back", async () => {
    await run(`kubectl scale deployment keyplane-controller -n ${NAMESPACE} --replicas=0`);
    await operator.sees(["leases"], ["KeyplaneControllerWithoutLeader"]);
    await run(from(commandsIn(RUNBOOKS, "KeyplaneControllerWithoutLeader"), "helm upgrade"));
    await isWhole();
  });

  it("by definitions of an older version gets those of this one", async () => {
    const path = (version: number) =>
      `{"op":"remove","path":"/spec/versions/${version}/schema/openAPIV3Schema/properties/spec/properties/displayName"}`;
    await run(`kubectl patch crd platformkeys.keyplane.dev --type json -p '[${path(0)},${path(1)}]'`);
    await operator.sees(["custom-resources"], []);
    await act("custom-resources");
    await isWhole();
    // Helm takes them for its own as before.
    await upgrade();
  });

  it("by a definition that was deleted gets it back", async () => {
    await run("kubectl delete crd memorylibraries.keyplane.dev");
    await operator.sees(["custom-resources"], []);
    await act("custom-resources");
    await isWhole();
    await upgrade();
  });

  it("by a Role that was deleted gets it back, and delivers what had to wait", async () => {
    await run(`kubectl delete role keyplane-keys -n ${TEAM}`);
    await run(`kubectl delete secret first -n ${TEAM}`);
    await operator.sees(["rights", "declarations"], ["KeyplaneObjectsNotReady"]);
    await act("rights");
    await run(`kubectl wait --for=condition=Ready platformkey/first -n ${TEAM} --timeout=90s`);
    await isWhole();
    await upgrade();
  });

  it("by a provider's credential that was deleted names its gateway, which works once it is back", async () => {
    const create = `kubectl create secret generic provider -n ${TEAM} --from-literal=api-key=none`;
    await run(create);
    await kubernetes.kubectl(
      ["apply", "--filename=-"],
      JSON.stringify({
        apiVersion: "keyplane.dev/v1alpha1",
        kind: "ModelGateway",
        metadata: { name: "main", namespace: TEAM },
        spec: {
          upstreams: [
            {
              name: "openai",
              dialect: "openai",
              baseURL: "https://api.openai.com",
              credentialRef: { name: "provider", key: "api-key" },
            },
          ],
        },
      }),
    );
    await run(`kubectl wait --for=condition=Ready modelgateway/main -n ${TEAM} --timeout=60s`);
    await run(`kubectl delete secret provider -n ${TEAM}`);
    await operator.sees(["declarations"], ["KeyplaneObjectsNotReady"]);
    expect(await run("kubectl get modelgateways -A -o wide")).toContain("There is no Secret provider");
    await run(create);
    await isWhole();
  });

  it("by a second one for the same namespaces is reported, until that is uninstalled", async () => {
    await run("kubectl create namespace keyplane-b");
    for (const [name, file] of [
      ["keyplane-database", "url=database-url"],
      ["keyplane-encryption-key", "encryption-key"],
    ])
      await run(`kubectl create secret generic ${name} -n keyplane-b --from-file=${file}`);
    // What the chart refuses where it sees the other's policies.
    const values = "-f values.yaml --set crds.install=false --set admissionPolicies.enabled=false";
    await terminal.run(`helm install keyplane-b infra/chart -n keyplane-b ${values}`);
    await operator.sees(["leases"], []);
    expect(await operator.actionOf("leases")).toContain("helm list -A");
    await run("helm uninstall keyplane-b -n keyplane-b");
    await isWhole();
  });

  it("by a certificate that was not renewed gets a new one, which servers read by themselves", async () => {
    const save = async (endsIn: number) => {
      const { cert, key } = makeCertificate(endsIn);
      await writeFile(join(terminal.folder, "tls.crt"), cert);
      await writeFile(join(terminal.folder, "tls.key"), key);
    };
    const local = await startBalancer({ ...SERVICE, host: "127.0.0.1" }, service.next);
    const ofServer = async () => {
      const command = `NODE_EXTRA_CA_CERTS=tls.crt keyplane doctor --server https://127.0.0.1:${SERVICE.port} -o json`;
      const { findings }: { readonly findings: readonly Finding[] } = JSON.parse(await run(`${command} || [ $? = 1 ]`));
      return findings.filter(({ severity }) => severity === "error").map(({ name }) => name);
    };
    await save(-60_000);
    await run(`kubectl create secret tls keyplane-tls -n ${NAMESPACE} --cert=tls.crt --key=tls.key`);
    await run(`helm upgrade keyplane infra/chart -n ${NAMESPACE} -f values.yaml --set tls.existingSecret=keyplane-tls`);
    await operator.sees([], ["KeyplaneCertificateExpiring"]);
    expect(await ofServer()).toContain("certificate");
    await save(30 * 24 * 3_600_000);
    const replace = from(commandsIn(RUNBOOKS, "KeyplaneCertificateExpiring"), "kubectl create secret tls");
    await terminal.run(
      replace.replace("NAME", "keyplane-tls").replace("cert=FILE", "cert=tls.crt").replace("key=FILE", "key=tls.key"),
    );
    // As long as the kubelet takes to bring what a Secret holds.
    const whole = async () => (await ofServer()).length === 0;
    await until("servers show the new certificate", whole, { timeoutMs: 240_000 });
    local.close();
    await upgrade();
    await isWhole();
  });

  it("by a key that leaked revokes it, and makes another", async () => {
    const leaked = await keyOf("first");
    const answer = await fetch(`${URL_OF_SERVICE}/api/v1/leaks`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ leaks: [{ key: leaked }] }),
    });
    expect(answer.status).toBe(202);
    await operator.sees(["leaked-keys"], ["KeyplaneLeakReported", "KeyplaneLeakedKeyWorks"]);
    const revoke = from(
      blocksOf("docs/operations/bootstrap-token.md", "The first key, and emergencies"),
      "keyplane revoke",
    );
    await run(revoke.replace("team-a/agent", `${TEAM}/first`));
    const refused = await fetch(`${URL_OF_SERVICE}/atoms?limit=1`, { headers: { authorization: `Bearer ${leaked}` } });
    expect(refused.status).toBe(401);
    await run(`kubectl delete platformkey first -n ${TEAM}`);
    await declareKey();
    await run(`kubectl wait --for=condition=Ready platformkey/first -n ${TEAM} --timeout=90s`);
    await isWhole();
  });
});
