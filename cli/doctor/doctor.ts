import { existsSync } from "node:fs";
import type { Environment } from "../../domain/environment.ts";
import { setting } from "../../runtime/settings.ts";
import { styled } from "../../runtime/terminal-log.ts";
import type { DatabaseLocation } from "../../store/database/postgres/connection-config.ts";
import type { Store } from "../../store/database/store.ts";
import type { AddCommand } from "../command/command.ts";
import { ENCRYPTION_KEY, encryptionKeys, leaseNameIn, namespaceList } from "../command/config.ts";
import { type DatabaseFlags, databaseOptions, namesDatabase, requiredDatabase } from "../command/database-options.ts";
import { UsageError } from "../command/usage-error.ts";
import { serverUrl } from "../management/api-call.ts";
import { keyOption } from "../management/key-client.ts";
import { openManagement } from "../management/management-client.ts";
import { outputOption, outputText, type StructuredFormat } from "../output/output.ts";
import { commandAt } from "../output/own-command.ts";
import { plainText } from "../output/plain-text.ts";
import { checkCertificateFiles } from "./certificate.ts";
import { type ClusterTarget, checkCluster } from "./cluster.ts";
import { checkDatabase } from "./database.ts";
import { checkEmbedded } from "./embedded.ts";
import { type Finding, NOT_CHECKED } from "./finding.ts";
import { CONTROLLER } from "./generated/rights.ts";
import { checkProxy } from "./proxy/check-proxy.ts";
import { proxyTarget } from "./proxy/proxy-target.ts";
import { checkReadiness } from "./readiness.ts";
import { checkServer } from "./server.ts";

export const addDoctor: AddCommand = (program, { env, out, exit, terminal, progress }) => {
  const command = program
    .command("doctor")
    .description("find faults of an installation and say how to fix them; changes nothing")
    .setting("--data <dir>", "check the keyplane up of this data folder")
    .setting("--server <url>", "check this server; with a token its management API too")
    .setting("--token-file <file>", "a file with the token for --server")
    .setting("--admin-url <url>", "the server's admin listener")
    .setting("--tls-cert <file>", "the server's certificate chain in PEM")
    .setting("--tls-key <file>", "its private key in PEM")
    .setting("--public-url <url>", "the server's URL for clients, which the certificate must cover")
    .setting("--authz <url>", "check a proxy that asks the verifier: the URL of a GET that it protects")
    .option("--authz-echo <port>", "with --authz: the port of 127.0.0.1 that is the proxy's service meanwhile");
  keyOption(command);
  databaseOptions(command)
    .setting("--encryption-key-file <file>", "encryption keys to compare with the database's")
    .setting("--kubeconfig <file>", "the kubeconfig of the cluster to check")
    .setting("--controller-namespace <name>", "the controllers' namespace", CONTROLLER.namespace)
    .setting("--controller-account <name>", "the controllers' ServiceAccount", CONTROLLER.account)
    .setting("--lease-name <name>", "the controllers' Lease", "as --controller-account")
    .setting("--namespaces <names>", "the namespaces that the controller serves", "all")
    .option("--after-restore", "on Kubernetes: also list what to decide after a restore of cluster or database")
    .addOption(outputOption())
    .variable("KEYPLANE_TOKEN", "the token for --server; not an option, since command lines are public")
    .variable(...ENCRYPTION_KEY)
    .example("keyplane doctor --data .keyplane", "keyplane up, running or not")
    .example("keyplane doctor --server https://keys.example.com -o json", "a server as its clients see it")
    .example("keyplane doctor --database-url postgres://db/keyplane", "the database, and what it says of servers")
    .example(
      "keyplane doctor --database-url postgres://db/keyplane --kubeconfig ~/.kube/config",
      "an installation on Kubernetes",
    )
    .example(
      "keyplane doctor --authz https://models.example.com/v1/models --key-file key",
      "a proxy, as callers see it",
    )
    .example("keyplane doctor --database-url postgres://db/keyplane --after-restore", "what to decide after a restore")
    .action(async (flags: DoctorFlags) => {
      const findings = await progress.during("looking at the installation", () => examine(flags, env));
      out(
        flags.output === undefined
          ? inLines(findings, terminal?.hasColours === true)
          : outputText({ findings }, flags.output),
      );
      if (findings.some(({ severity }) => severity === "error")) exit(1);
    });
};

type DoctorFlags = DatabaseFlags & {
  readonly data?: string;
  readonly server?: string;
  readonly tokenFile?: string;
  readonly adminUrl?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly publicUrl?: string;
  readonly authz?: string;
  readonly authzEcho?: string;
  readonly keyFile?: string;
  readonly encryptionKeyFile?: string;
  readonly kubeconfig?: string;
  readonly controllerNamespace?: string;
  readonly controllerAccount?: string;
  readonly leaseName?: string;
  readonly namespaces?: string;
  readonly afterRestore?: true;
  readonly output?: StructuredFormat;
};

/** Token file of a pod. If it exists, the pod's own cluster is meant. */
const POD_TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount/token";
/** Flags that say where to look. */
const TARGET_FLAGS = [
  "data",
  "server",
  "adminUrl",
  "tlsCert",
  "authz",
  "databaseUrl",
  "databaseUrlFile",
  "kubeconfig",
  "afterRestore",
] as const;

/**
 * Checks every place that the flags name; if they name none, the places that the variables name.
 *
 * @throws UsageError if neither names any
 */
async function examine(flags: DoctorFlags, env: Environment): Promise<Finding[]> {
  const isFlagged = TARGET_FLAGS.some((flag) => flags[flag] !== undefined);
  const { data, server, adminUrl, authz, tls, hasDatabase, kubeconfig } = chooseTargets(flags, env, isFlagged);
  const database = hasDatabase ? requiredDatabase(env, flags) : undefined;
  const isClusterKnown = Boolean(env.KUBECONFIG) || existsSync(POD_TOKEN);
  const hasCluster =
    kubeconfig !== undefined || flags.afterRestore === true || (database !== undefined && isClusterKnown);
  const proxy = await proxyTarget(authz, flags, env);
  if (!hasCluster && [data, server, adminUrl, tls, proxy, database].every((given) => given === undefined)) {
    throw new UsageError(
      "say what to look at: --data DIR of keyplane up, --server URL, --admin-url URL, --tls-cert FILE, --authz URL, --database-url URL or --kubeconfig FILE",
    );
  }
  const now = Date.now;
  const cluster = async (store?: Store) =>
    hasCluster ? checkCluster(clusterTarget(flags, env, kubeconfig), store) : [];
  const ofDatabase = (location: DatabaseLocation) =>
    checkDatabase(location, { encryptionKeys: () => encryptionKeys(env, flags.encryptionKeyFile), now }, cluster);
  return [
    ...(data === undefined ? [] : await checkEmbedded({ data, env })),
    ...(tls === undefined ? [] : await checkCertificateFiles(tls, now())),
    ...(server === undefined ? [] : await checkServer(serverTarget(server, flags, env))),
    ...(adminUrl === undefined ? [] : [await checkReadiness(serverUrl("admin-url", adminUrl))]),
    ...(proxy === undefined ? [] : await checkProxy(proxy)),
    ...(database === undefined ? await cluster() : await ofDatabase(database)),
  ];
}

/**
 * Chooses the places to check.
 *
 * @param isFlagged true if flags name places: variables then name none, and only add details to those of the flags
 */
function chooseTargets(flags: DoctorFlags, env: Environment, isFlagged: boolean) {
  const variables = isFlagged ? {} : env;
  const cert = setting(variables, "tls-cert", flags.tlsCert);
  const key = setting(isFlagged && cert === undefined ? {} : env, "tls-key", flags.tlsKey);
  if ((cert === undefined) !== (key === undefined)) throw new UsageError("--tls-cert: give it together with --tls-key");
  const publicUrl = setting(cert === undefined ? {} : env, "public-url", flags.publicUrl);
  const host = publicUrl === undefined ? undefined : serverUrl("public-url", publicUrl);
  return {
    data: setting(variables, "data", flags.data),
    server: setting(variables, "server", flags.server),
    adminUrl: setting(variables, "admin-url", flags.adminUrl),
    authz: setting(variables, "authz", flags.authz),
    tls: cert === undefined || key === undefined ? undefined : { cert, key, publicUrl: host },
    hasDatabase: namesDatabase(variables, flags) || flags.afterRestore === true,
    kubeconfig: setting(variables, "kubeconfig", flags.kubeconfig),
  };
}

function clusterTarget(flags: DoctorFlags, env: Environment, kubeconfig: string | undefined): ClusterTarget {
  const controllerAccount = setting(env, "controller-account", flags.controllerAccount) ?? CONTROLLER.account;
  return {
    kubeconfig,
    namespaces: namespaceList(setting(env, "namespaces", flags.namespaces)),
    controllerNamespace: setting(env, "controller-namespace", flags.controllerNamespace) ?? CONTROLLER.namespace,
    controllerAccount,
    leaseName: leaseNameIn(setting(env, "lease-name", flags.leaseName)) ?? controllerAccount,
    isRestored: flags.afterRestore === true,
  };
}

function serverTarget(server: string, flags: DoctorFlags, env: Environment) {
  const url = serverUrl("server", server);
  const hasToken = Boolean(setting(env, "token-file", flags.tokenFile) ?? env.KEYPLANE_TOKEN);
  const choice = { server: url, tokenFile: flags.tokenFile };
  const management = hasToken ? () => openManagement(env, choice) : undefined;
  return { url: new URL(url), management, command: (words: string) => commandAt(choice, env, words), now: Date.now };
}

const STYLES = { ok: "green", note: "yellow", error: "red" } as const;

/** Formats each finding as a line that says what is so, and a line below it that says what to do. */
function inLines(findings: readonly Finding[], hasColours: boolean): string {
  const lines = findings.flatMap(({ name, severity, message, action }) => [
    `${styled(hasColours, STYLES[severity], severity.padEnd(5))}  ${name}: ${plainText(message)}`,
    ...(action === null ? [] : [`       ${plainText(action)}`]),
  ]);
  const count = findings.filter(({ severity }) => severity === "error").length;
  const isAll = !findings.some(({ message }) => message.startsWith(NOT_CHECKED));
  const none = isAll ? "nothing is wrong" : "nothing is wrong in what was checked";
  const sum = count === 0 ? none : `${count} ${count === 1 ? "thing is" : "things are"} wrong`;
  return [...lines, sum].join("\n");
}
