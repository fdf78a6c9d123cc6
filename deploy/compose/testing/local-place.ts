import { join } from 'node:path';

/** Where what containers have to themselves is on this machine. */
export type LocalPlace = {
  /** A text with addresses of services and paths of containers in it, as it has to read here. */
  here(text: string, service: string): string;
  /** The port here of what a service listens on there. */
  portOf(service: string, port: string): number;
};

/**
 * Maps addresses to ports of loopback, given for each `service:port`, and the paths that services are given to folders
 * below `folder`: secrets for all of them, everything else for each its own.
 */
export function createLocalPlace(folder: string, ports: ReadonlyMap<string, number>): LocalPlace {
  const portOf = (service: string, port: string): number => {
    const found = ports.get(`${service}:${port}`);
    if (found === undefined) throw new Error(`no port was reserved for ${service}:${port}`);
    return found;
  };
  return {
    portOf,
    here(text, service) {
      return [...ports.keys()]
        .reduce(
          (rest, address) => rest.replaceAll(new RegExp(`\\b${address}\\b`, 'g'), `127.0.0.1:${ports.get(address)}`),
          // The name that a node has in the network of the nodes.
          text.replaceAll('-node:6222', ':6222'),
        )
        .replaceAll('/run/secrets/', `${join(folder, 'secrets')}/`)
        .replaceAll(/(?<=^|[ "'])\/(?:etc\/nats|data|var\/lib\/sluice)\b/gm, (path) => join(folder, service, path));
    },
  };
}

/** Every `service:port` that is named somewhere in `texts`. */
export function namedAddresses(texts: readonly string[], services: readonly string[]): string[] {
  const address = new RegExp(`\\b(?:${services.join('|')}):\\d+\\b`, 'g');
  return [...new Set(texts.flatMap((text) => text.match(address) ?? []))];
}

/** A nats.conf of a container as it has to read for the node `service` here: on loopback and on ports of its own. */
export function localNatsConf(text: string, service: string, place: LocalPlace): string {
  const own = text.replaceAll(/^( *(?:http_)?port: )(\d+)$/gm, (_line, name: string, port: string) => {
    return `${name}${place.portOf(service, port)}`;
  });
  return `host: 127.0.0.1\n${place.here(own, service).replace('host: $NATS_NODE_HOST', 'host: 127.0.0.1')}`;
}
