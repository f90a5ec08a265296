/** The Lease object of a leader election: taken, renewed and given back, always under the version that was read. */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../../domain/manifest/identity.ts";
import type { ApiClient } from "./api/api-client.ts";
import { isConflict, isNotFound } from "./api/api-error.ts";
import { microTime } from "./events.ts";
import { leaseResource, leasesPath } from "./resources.ts";

/** How long others respect a lease that is not renewed. */
const LEASE_SECONDS = 15;
const LEASE_NAME = "keyplane-controller";

/** One Lease for each scope: those who serve different namespaces lead side by side. */
export function leaseName(scope: string): string {
  const [, namespaces] = scope.split("/", 2);
  if (namespaces === undefined) return LEASE_NAME;
  return `${LEASE_NAME}-${createHash("sha256").update(scope).digest("hex").slice(0, 10)}`;
}

export type LeaseRecordOptions = {
  readonly api: ApiClient;
  readonly namespace: string;
  readonly name: string;
  /** Of this process, unlike any other's. */
  readonly identity: string;
  readonly clock: { now(): number; monotonic(): number };
};

export type LeaseRecord = {
  /** Takes the lease, or renews it. False when it is another's. Throws ApiError when that is not known. */
  take(timeoutMs: number): Promise<boolean>;
  /** Lets go of it, so that another need not wait. */
  release(timeoutMs: number): Promise<void>;
};

type Spec = Readonly<Record<string, unknown>>;

export function createLeaseRecord({ api, namespace, name, identity, clock }: LeaseRecordOptions): LeaseRecord {
  const collection = leasesPath(namespace);
  const path = `${collection}/${encodeURIComponent(name)}`;
  /** Another's lease as last seen, and since when it has not changed, on our own clock: theirs may be wrong. */
  let seen: { readonly spec: Spec; readonly since: number } | undefined;

  const write = (method: "POST" | "PUT", timeoutMs: number, spec: Spec, resourceVersion?: string) =>
    api.request({
      method,
      path: method === "POST" ? collection : path,
      timeoutMs,
      isElection: true,
      body: {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { name, namespace, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
        spec,
      },
    });

  const read = (timeoutMs: number) => readLease(api, namespace, name, timeoutMs);

  /** Whether it may not be taken yet. */
  function isRespected(spec: Spec): boolean {
    if (!spec.holderIdentity || spec.holderIdentity === identity) return false;
    if (!isDeepStrictEqual(seen?.spec, spec)) seen = { spec, since: clock.monotonic() };
    const seconds = typeof spec.leaseDurationSeconds === "number" ? spec.leaseDurationSeconds : LEASE_SECONDS;
    return seen === undefined || clock.monotonic() < seen.since + seconds * 1_000;
  }

  async function take(timeoutMs: number): Promise<boolean> {
    const lease = await read(timeoutMs);
    if (lease !== undefined && isRespected(lease.spec)) return false;
    const renewTime = microTime(clock.now());
    const isRenewal = lease?.spec.holderIdentity === identity;
    const { leaseTransitions, acquireTime } = lease?.spec ?? {};
    const transitions = typeof leaseTransitions === "number" ? leaseTransitions : 0;
    const spec = {
      holderIdentity: identity,
      leaseDurationSeconds: LEASE_SECONDS,
      acquireTime: isRenewal ? acquireTime : renewTime,
      renewTime,
      leaseTransitions: isRenewal || lease === undefined ? transitions : transitions + 1,
    };
    try {
      await write(lease === undefined ? "POST" : "PUT", timeoutMs, spec, lease?.version);
      return true;
    } catch (error) {
      if (!isConflict(error)) throw error;
      return false;
    }
  }

  return {
    take,
    async release(timeoutMs) {
      const lease = await read(timeoutMs);
      if (lease?.spec.holderIdentity !== identity) return;
      await write("PUT", timeoutMs, { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1 }, lease.version);
    },
  };
}

/** @returns undefined where there is none */
export async function readLease(
  api: Pick<ApiClient, "request">,
  namespace: string,
  name: string,
  timeoutMs?: number,
): Promise<{ readonly spec: Spec; readonly version: string } | undefined> {
  const path = `${leasesPath(namespace)}/${encodeURIComponent(name)}`;
  try {
    const lease = await api.request({ method: "GET", path, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
    const { spec, metadata } = isRecord(lease) ? lease : {};
    const { resourceVersion } = isRecord(metadata) ? metadata : {};
    return { spec: isRecord(spec) ? spec : {}, version: String(resourceVersion) };
  } catch (error) {
    if (isNotFound(error, leaseResource(name))) return undefined;
    throw error;
  }
}
