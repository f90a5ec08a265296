/** A team with its memory library and one key. No key is in this program or in its state: see docs/guides/pulumi.md. */
import { MemoryLibrary, PlatformKey, PlatformTeam } from "keyplane/pulumi/kubernetes";

const namespace = "research";
const team = new PlatformTeam("research", {
  metadata: { name: "research" },
  spec: { displayName: "Research", namespaces: [namespace], members: [{ role: "admin", group: "research-leads" }] },
});

const handbook = new MemoryLibrary(
  "handbook",
  { metadata: { name: "handbook", namespace }, spec: { displayName: "Handbook" } },
  { dependsOn: team },
);

const libraryRef = { name: handbook.metadata.name };
const docsAgent = new PlatformKey("docs-agent", {
  metadata: {
    name: "docs-agent",
    namespace,
    // The update is done when the key is in its Secret.
    annotations: { "pulumi.com/waitFor": "condition=Ready" },
  },
  spec: {
    displayName: "Docs agent",
    preset: "MCPReadOnly",
    libraryAccess: { mode: "Restricted", libraryRefs: [libraryRef] },
    mcpDefaultLibraryRef: libraryRef,
    rotation: { interval: "720h", overlap: { mode: "Adoption", min: "24h", max: "72h" } },
    secret: { template: "McpConfig" },
  },
});

/**
 * Reference to the key's Secret, for a container: `env: [{ name: "KEYPLANE_API_KEY", valueFrom: { secretKeyRef:
 * docsAgentSecret } }]`.
 */
export const docsAgentSecret = docsAgent.secretRef;
