/**
 * Everything that `doctor` looks at, by the names that scripts and alerts may rely on. What each means, and the way out,
 * is in docs/operations/doctor.md, under the same name.
 */
export const FINDING_NAMES = [
  "file-modes",
  "bootstrap-token",
  "encryption-key",
  "storage",
  "process",
  "readiness",
  "management-api",
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
  "garbage-collection",
  "orphans",
  "revived-declarations",
  "outdated-declarations",
  "restore",
] as const;
export type FindingName = (typeof FINDING_NAMES)[number];

/** One thing that was looked at. */
export type Finding = {
  readonly name: FindingName;
  /** An `error` needs a person to act; a `note` is for information. */
  readonly severity: "ok" | "note" | "error";
  /** What is so. */
  readonly message: string;
  /** What to do about it, as a command where there is one; null for nothing. */
  readonly action: string | null;
};

/** Looks at one thing, given all that it needs, and says what it has found. It changes nothing. */
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
