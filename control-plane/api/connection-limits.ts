import type { Server, Socket } from 'node:net';
import { normalizeAddress } from '../../shared/admission/address-ranges.ts';
import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { count } from '../../shared/runtime/variables.ts';

/** Limits the connections to a server, in total and per client address. */
export type ConnectionLimits = {
  /** Connections refused since the start. */
  readonly refused: number;
};

const connections = {
  CONTROL_PLANE_CONNECTIONS_MAX: count(
    "Open client connections; more are refused. One address that is not in TRUSTED_PROXIES may have a tenth of them. Keep this below the process's limit of open files",
    5_000,
  ),
};

export const { variables: connectionLimitsEnv, read: readConnectionLimits } = defineSettings({
  connectionsMax: fromEnv(connections),
  ofAddressMax: fromEnv(connections, (env) => Math.ceil(env.CONTROL_PLANE_CONNECTIONS_MAX / 10)),
});

export type ConnectionLimitsOptions = ReturnType<typeof readConnectionLimits> & {
  /** Whether an address belongs to a proxy, through which many clients connect. */
  isProxy(address: string): boolean;
};

/** Applies the limits to a server. Call it before the server listens. */
export function limitConnections(
  server: Server,
  { connectionsMax, ofAddressMax, isProxy }: ConnectionLimitsOptions,
): ConnectionLimits {
  const open = new Map<string, number>();
  let refused = 0;
  server.maxConnections = connectionsMax;
  server.on('drop', () => (refused += 1));
  server.prependListener('connection', (socket: Socket) => {
    const address = normalizeAddress(socket.remoteAddress ?? '') ?? '';
    if (isProxy(address)) return;
    const ofAddress = open.get(address) ?? 0;
    if (ofAddress >= ofAddressMax) {
      refused += 1;
      socket.destroy();
      return;
    }
    open.set(address, ofAddress + 1);
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
  });
  return {
    get refused() {
      return refused;
    },
  };
}
