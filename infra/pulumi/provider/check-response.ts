import messages from "@pulumi/pulumi/proto/provider_pb.js";
import type { FieldDiagnostic } from "../../../domain/manifest/validation/check-spec.ts";

export function checkResponse(diagnostics: readonly FieldDiagnostic[]) {
  const response = new messages.CheckResponse();
  response.setFailuresList(diagnostics.map(checkFailure));
  return response;
}

/** Of a failure that names a property the engine prints the value, be it a secret: so the reason names it instead. */
export function checkFailure({ path, message }: FieldDiagnostic) {
  return new messages.CheckFailure().setReason(path === "" ? message : `${path}: ${message}`);
}
