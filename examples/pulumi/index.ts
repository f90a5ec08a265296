/** A team with its memory library, and one application's keys for dev, staging and production: see docs/guides/pulumi.md. */
import { EnvironmentKeys, MemoryLibrary, PlatformTeam } from "keyplane/pulumi";

const { name: team } = new PlatformTeam("docs", {
  name: "docs",
  displayName: "Documentation",
  members: [{ role: "admin", group: "docs-leads" }],
});

const handbook = new MemoryLibrary("handbook", { team, name: "handbook", displayName: "Handbook" });

const agent = new EnvironmentKeys("docs-agent", {
  team,
  scopes: ["memory:read", "memory:write"],
  libraryAccess: { mode: "Restricted", libraryRefs: [{ name: handbook.name }] },
  environments: { staging: { rateLimit: { requestsPerMinute: 600, burst: 60 } } },
});

/** Secrets: `pulumi stack output keys --show-secrets`, or hand them on to what needs them. */
export const keys = agent.secrets;
export const scopes = {
  dev: agent.keys.dev.effectiveScopes,
  staging: agent.keys.staging.effectiveScopes,
  production: agent.keys.production.effectiveScopes,
};
