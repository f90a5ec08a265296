import messages from "@pulumi/pulumi/proto/provider_pb.js";
import type { FieldDiagnostic } from "../../../domain/manifest/validation/check-spec.ts";

export function checkResponse(diagnostics: readonly FieldDiagnostic[]) {
  const response = new messages.CheckResponse();
  response.setFailuresList(diagnostics.map(checkFailure));
  return response;
}

/**
 * Returns a failure whose property is named in the text. In its own field, the engine would print the property's value,
 * even of a secret.
 */
export function checkFailure({ path, message }: FieldDiagnostic) {
  return new messages.CheckFailure().setReason(path === "" ? message : `${path}: ${message}`);
}
