import type { FastifyRequest } from "fastify";

/** Role in a team. */
type TeamRole = { readonly teamId: string; readonly role: string };

declare module "fastify" {
  interface FastifyRequest {
    /** Roles of a person who looks at a page of the console; undefined on other routes, and before they are read. */
    viewerRoles: readonly TeamRole[] | undefined;
  }
}

/** Person who looks at a page. */
export type Viewer = {
  /** Name, as the page shows it. */
  readonly name: string;
  /** True if they run the installation, and so see every team. */
  readonly runsInstallation: boolean;
  /** Roles in teams; undefined if they were not read. */
  readonly roles: readonly TeamRole[] | undefined;
  /** Token that their forms carry. */
  readonly csrf: string;
};

/** Returns the viewer of a request's page; null if no person is signed in. */
export function findViewer({ session, managementPrincipal, viewerRoles }: FastifyRequest): Viewer | null {
  if (session === null) return null;
  const runsInstallation = typeof managementPrincipal?.as === "string";
  return { name: session.displayName, runsInstallation, roles: viewerRoles, csrf: session.csrfToken };
}

/** Returns the viewer of a page that requires a session. */
export function viewerOf(request: FastifyRequest): Viewer {
  const viewer = findViewer(request);
  if (viewer === null) throw new Error("a page of the console was reached without a session");
  return viewer;
}
