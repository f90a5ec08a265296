/** Declarations as a user applies them to a namespace, each a document of YAML. */

/** @param namespaces as in a list of YAML: `dev, prod` */
export const teamManifest = (name: string, namespaces: string) => `
---
apiVersion: keyplane.dev/v1alpha1
kind: PlatformTeam
metadata: { name: ${name} }
spec: { namespaces: [${namespaces}] }
`;

/** @param spec further fields of it: `deletionPolicy: Retain` */
export const keyManifest = (name: string, spec = "") => `
---
apiVersion: keyplane.dev/v1alpha1
kind: PlatformKey
metadata: { name: ${name} }
spec: { preset: MCPReadOnly, ${spec} }
`;

/** The library `handbook`. */
export const LIBRARY = `
---
apiVersion: keyplane.dev/v1alpha1
kind: MemoryLibrary
metadata: { name: handbook }
spec: {}
`;

/** The gateway `main`, and the Secret of its provider's credential. */
export const GATEWAY = `
---
apiVersion: v1
kind: Secret
metadata: { name: provider }
stringData: { api-key: any }
---
apiVersion: keyplane.dev/v1alpha1
kind: ModelGateway
metadata: { name: main }
spec:
  upstreams:
    - { name: openai, dialect: openai, baseURL: https://models.invalid, credentialRef: { name: provider, key: api-key } }
`;
