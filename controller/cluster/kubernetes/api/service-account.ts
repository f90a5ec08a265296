import { isRecord } from "../../../../domain/manifest/document/identity.ts";
import type { ApiClient } from "./api-client.ts";

const PREFIX = "system:serviceaccount:";

/**
 * Returns the namespace of the ServiceAccount that we are to the API server, whichever configuration says so: its Role
 * there lets us have a Lease, and Keyplane runs there. undefined for a person, or if the API server does not say.
 */
export async function serviceAccountNamespace(api: ApiClient): Promise<string | undefined> {
  const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const answer: unknown = await api.request({ method: "POST", path, body: review }).catch(() => undefined);
  const status = isRecord(answer) && isRecord(answer.status) ? answer.status : {};
  const username = isRecord(status.userInfo) ? status.userInfo.username : undefined;
  if (typeof username !== "string" || !username.startsWith(PREFIX)) return undefined;
  return username.slice(PREFIX.length).split(":")[0];
}
