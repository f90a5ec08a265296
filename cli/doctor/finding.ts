/**
 * Names of all that `doctor` looks at. Scripts and alerts may rely on them. What each means and what to do is in
 * docs/operations/doctor.md, under the same name.
 */
export const FINDING_NAMES = [
  "file-modes",
  "bootstrap-token",
  "encryption-key",
  "storage",
  "process",
  "readiness",
  "management-api",
  "issuers",
  "placeholder-keys",
  "manifests",
  "held-declarations",
  "declarations",
  "secrets",
  "certificate",
  "server-connection",
  "clock",
  "database-connection",
  "database-storage",
  "database-encryption",
  "database-version",
  "database-schema",
  "database-notifications",
  "database-session",
  "replicas",
  "leaked-keys",
  "gateway-credentials",
  "upstreams",
  "restored-sessions",
  "other-clusters",
  "cluster-connection",
  "custom-resources",
  "rights",
  "leases",
  "unserved-keys",
  "proxy-connection",
  "proxy-verifier",
  "proxy-keys",
  "proxy-requests",
  "proxy-answers",
  "proxy-bodies",
  "proxy-service",
  "garbage-collection",
  "orphans",
  "revived-declarations",
  "outdated-declarations",
  "restore",
] as const;
export type FindingName = (typeof FINDING_NAMES)[number];

/** Result of one check. */
export type Finding = {
  readonly name: FindingName;
  /** Severity: `error` needs a person to act, `note` is for information. */
  readonly severity: "ok" | "note" | "error";
  /** Statement of what was found. */
  readonly message: string;
  /** Remedy, as a command if there is one; null if nothing is to be done. */
  readonly action: string | null;
};

/** Beginning of the message of a note about what was not checked. */
export const NOT_CHECKED = "not checked: ";

/** Checks one thing, from what it is given, and returns its findings. It changes nothing. */
export type Check<Given> = (given: Given) => Promise<readonly Finding[]>;

export const ok = (name: FindingName, message: string): Finding => ({ name, severity: "ok", message, action: null });

export const note = (name: FindingName, message: string, action: string | null = null): Finding => ({
  ...{ name, severity: "note", message, action },
});

export const wrong = (name: FindingName, message: string, action: string): Finding => ({
  ...{ name, severity: "error", message, action },
});

/** Runs checks one after the other. */
export async function runChecks<Given>(checks: readonly Check<Given>[], given: Given): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const check of checks) findings.push(...(await check(given)));
  return findings;
}
