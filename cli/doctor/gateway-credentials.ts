/** Checks that model providers accept the credentials that gateways have for them. */
import { API_CLUSTER } from "../../domain/api-cluster.ts";
import { findCondition } from "../../domain/conditions.ts";
import type { Db } from "../../store/database/change.ts";
import { lostCredentials, refusedCredentials } from "../../store/gateways/upstream-outcomes.ts";
import type { Declaration } from "./declarations.ts";
import { type Finding, ok, wrong } from "./finding.ts";

const FINE = ok("gateway-credentials", "no provider refuses a gateway's credential");

/** Reports refused and lost credentials from the store, which covers gateways made by hand too. */
export async function checkGatewayCredentials({ db }: { readonly db: Db }): Promise<Finding[]> {
  const refused = (await refusedCredentials(db)).map((one) => ({
    ...one,
    what: one.takesCredential ? "refuses the gateway's credential" : "asks for a credential, and is declared without",
  }));
  const lost = (await lostCredentials(db)).map((one) => ({ ...one, what: "has no credential" }));
  const findings = [...refused, ...lost].map((one) => {
    const { cluster, namespace, name, gatewayId, upstream, dialect, takesCredential, what } = one;
    const title = namespace === "" ? name : `${namespace}/${name}`;
    const message = `upstream ${upstream} (${dialect}) of ModelGateway ${title} ${what}`;
    const byHand = takesCredential ? "write it into that upstream's Secret" : "name its Secret by credentialRef";
    const step = cluster === API_CLUSTER ? `send it by PUT /api/v1/gateways/${gatewayId}` : byHand;
    return wrong("gateway-credentials", message, `take the provider's present credential, and ${step}`);
  });
  return findings.length > 0 ? findings : [FINE];
}

/** Reports refused credentials from the conditions of declared gateways. Their controller has these from the store. */
export function judgeGatewayCredentials(gateways: readonly Declaration[]): Finding[] {
  const findings = gateways.flatMap(({ metadata: { namespace, name }, status }) => {
    const found = findCondition(status?.conditions, "CredentialsAccepted");
    if (found?.status !== "False") return [];
    const message = `ModelGateway ${namespace}/${name}: ${found.message}`;
    return [wrong("gateway-credentials", message, "do what this says")];
  });
  return findings.length > 0 ? findings : [FINE];
}
