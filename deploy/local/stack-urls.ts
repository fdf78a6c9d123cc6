import type { ServiceUrls } from './credentials.ts';
import type { StackEnv } from './env.ts';

type Ports = Pick<StackEnv, 'GATEWAY_PORT' | 'CONTROL_PLANE_PORT' | 'SINK_PORT'>;

/** Where the services of the stack are. One that is given a certificate by the caller's settings speaks TLS only. */
export function stackUrls(
  { GATEWAY_PORT, CONTROL_PLANE_PORT, SINK_PORT }: Ports,
  inherited: Readonly<Record<string, string | undefined>>,
): ServiceUrls {
  const isSet = (...names: string[]): boolean => names.some((name) => (inherited[name] ?? '') !== '');
  const urlOf = (isTls: boolean, port: number): string => `${isTls ? 'https' : 'http'}://127.0.0.1:${port}`;
  return {
    gateway: urlOf(isSet('GATEWAY_TLS_CERT_FILE'), GATEWAY_PORT),
    controlPlane: urlOf(isSet('CONTROL_PLANE_TLS_CERT', 'CONTROL_PLANE_TLS_CERT_FILE'), CONTROL_PLANE_PORT),
    sink: urlOf(false, SINK_PORT),
  };
}
