/** Environment variables of a process, as commands receive them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the environment without the service links that Kubernetes adds: a Service named `keyplane` makes variables
 * such
 * as `KEYPLANE_PORT=tcp://10.0.0.1:80`, which no operator has configured.
 */
export function withoutServiceLinks(env: Environment): Environment {
  const isLink = (name: string, value: string | undefined) =>
    name.startsWith("KEYPLANE_") && value?.startsWith("tcp://") === true;
  return Object.fromEntries(Object.entries(env).filter(([name, value]) => !isLink(name, value)));
}
