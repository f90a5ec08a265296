import { describe, expect, it } from "vitest";
import { admissionRefusal } from "../../../../controller/cluster/kubernetes/secrets/admission-refusal.ts";

const LONGEST = "x".repeat(253);

describe("who refuses a Secret", () => {
  it.each([
    [
      'secrets "agent" is forbidden: exceeded quota: compute.v1, requested: secrets=1, used: secrets=0, limited: secrets=0',
      "exceeded quota: compute.v1",
    ],
    [
      `secrets "agent" is forbidden: ValidatingAdmissionPolicy 'no-keys' with binding 'all' denied request: inf_quoted`,
      "ValidatingAdmissionPolicy 'no-keys' with binding 'all' denied request",
    ],
    [
      `secrets "agent" is forbidden: ValidatingAdmissionPolicy 'no-keys' denied request: inf_quoted`,
      "ValidatingAdmissionPolicy 'no-keys' denied request",
    ],
    [
      `policy 'no-keys' with binding 'all' denied request: JSON Patch: error in remove for path: '/data/inf_quoted'`,
      `policy 'no-keys' with binding 'all' denied request`,
    ],
    [
      'admission webhook "keys.example.com" denied the request: inf_quoted',
      'admission webhook "keys.example.com" denied the request',
    ],
    [
      'admission webhook "keys.example.com" denied the request without explanation',
      'admission webhook "keys.example.com" denied the request',
    ],
    [
      'Internal error occurred: failed calling webhook "keys.example.com": failed to call webhook: Post "https://a": refused',
      'failed calling webhook "keys.example.com"',
    ],
    [
      `secrets "${LONGEST}" is forbidden: ValidatingAdmissionPolicy '${LONGEST}' with binding '${LONGEST}' denied request: a`,
      `ValidatingAdmissionPolicy '${LONGEST}' with binding '${LONGEST}' denied request`,
    ],
  ])("c68: is named, and nothing that follows: %s", (message, named) => {
    expect(admissionRefusal(message)).toBe(named);
  });

  it.each([
    "",
    "inf_quoted exceeded quota: compute, requested: secrets=1",
    'secrets "agent" is forbidden: status unknown for quota: compute, resources: secrets',
    'secrets "agent" is forbidden: exceeded quota: inf_Quoted, requested: secrets=1',
    'secrets "agent" is forbidden: exceeded quota: cut-in-the-midd',
    'secrets "agent is forbidden: exceeded quota: compute,',
    `ValidatingAdmissionPolicy 'no-keys' with binding 'all' denied request: a`,
    'admission webhook "a b" denied the request: a',
    'admission webhook denied: admission webhook "keys.example.com" denied the request',
    'failed calling webhook "keys.example.com": failed to call webhook',
    'Internal error occurred: failed calling webhook "a b": failed to call webhook',
    'pods "agent" is forbidden: exceeded quota: compute, requested: pods=1',
  ])("c68: is not guessed from another text: %s", (message) => {
    expect(admissionRefusal(message)).toBeUndefined();
  });
});
