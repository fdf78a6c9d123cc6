import type { Server, Socket } from 'node:net';
import type { Static, TObject } from 'typebox';
import { normalizeAddress } from '../../shared/admission/address-ranges.ts';
import { count } from '../../shared/runtime/variables.ts';

/** Connections of clients to a server: as many as may be, and of one address no more than its part. */
export type ConnectionLimits = {
  /** Closed as they came, since the start. */
  readonly refused: number;
};

export type ConnectionLimitsOptions = {
  readonly connectionsMax: number;
  readonly ofAddressMax: number;
  /** Whether an address stands for many clients. */
  isProxy(address: string): boolean;
};

export const connectionLimitsEnv = {
  CONTROL_PLANE_CONNECTIONS_MAX: count(
    "Connections of clients; more are closed as they come. Below the process's limit of open files",
    5_000,
  ),
  CONTROL_PLANE_ADDRESS_CONNECTIONS_MAX: count(
    'Of those, connections of one address that is not in TRUSTED_PROXIES',
    500,
  ),
};

type ConnectionLimitsVariables = Static<TObject<typeof connectionLimitsEnv>>;

/** Watches a server from before it listens. */
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

export function readConnectionLimits(
  env: ConnectionLimitsVariables,
): Pick<ConnectionLimitsOptions, 'connectionsMax' | 'ofAddressMax'> {
  return {
    connectionsMax: env.CONTROL_PLANE_CONNECTIONS_MAX,
    ofAddressMax: env.CONTROL_PLANE_ADDRESS_CONNECTIONS_MAX,
  };
}
