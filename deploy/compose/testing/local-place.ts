import { join } from 'node:path';

/** Maps container addresses and paths to this machine. */
export type LocalPlace = {
  /** A text with container addresses and paths rewritten for this machine. */
  here(text: string, service: string): string;
  /** The local port of a service's container port. */
  portOf(service: string, port: string): number;
};

/**
 * Maps each `service:port` to a loopback port, and container paths to folders below `folder`: secrets to a folder for
 * all services, other paths to a folder of the service.
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
          // The name of a node in the network that the nodes share.
          text.replaceAll('-node:6222', ':6222'),
        )
        .replaceAll('/run/secrets/', `${join(folder, 'secrets')}/`)
        .replaceAll(/(?<=^|[ "'])\/(?:etc\/nats|data|var\/lib\/sluice)\b/gm, (path) => join(folder, service, path));
    },
  };
}

/** Every `service:port` in `texts`. */
export function namedAddresses(texts: readonly string[], services: readonly string[]): string[] {
  const address = new RegExp(`\\b(?:${services.join('|')}):\\d+\\b`, 'g');
  return [...new Set(texts.flatMap((text) => text.match(address) ?? []))];
}

/** A container's nats.conf rewritten for this machine: the node `service` listens on loopback, at its mapped ports. */
export function localNatsConf(text: string, service: string, place: LocalPlace): string {
  const own = text.replaceAll(/^( *(?:http_)?port: )(\d+)$/gm, (_line, name: string, port: string) => {
    return `${name}${place.portOf(service, port)}`;
  });
  return `host: 127.0.0.1\n${place.here(own, service).replace('host: $NATS_NODE_HOST', 'host: 127.0.0.1')}`;
}
