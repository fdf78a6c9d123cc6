import type { Credentials } from './credentials.ts';
import { credentialsFile } from './credentials.ts';

/** The message when the stack is ready: all addresses, how to sign in, and a first event to paste. */
export function readyMessage(folder: string, credentials: Credentials, signInCode: string | undefined): string {
  const { gateway, controlPlane, sink, apiKey, sourceToken, destinationId } = credentials;
  const event = JSON.stringify({
    token: sourceToken,
    event: 'Order Completed',
    externalId: 'customer-42',
    properties: { order_id: 'A-1001', total: 42.5, currency: 'EUR' },
  });
  return [
    '',
    'sluice ready',
    '',
    `  gateway        ${gateway}`,
    `  console        ${controlPlane}/${signInCode === undefined ? '' : `sign-in#${signInCode}`}`,
    `  control plane  ${controlPlane}`,
    `  documentation  ${controlPlane}/docs`,
    `  demo sink      ${sink}`,
    `  demo site      ${sink}/site`,
    `  credentials    ${credentialsFile(folder)}`,
    `  logs           ${folder}/logs`,
    '',
    ...(signInCode === undefined
      ? []
      : ['Open the address of the console to sign in, once, within the hour. A new one: npm run sign-in-link', '']),
    'Send an event:',
    '',
    `  curl ${gateway}/api/v1/track -H 'content-type: application/json' -d '${event}'`,
    '',
    'See it arrive, and how its destination is doing:',
    '',
    `  curl '${sink}/events?limit=1'`,
    `  curl ${controlPlane}/rest/v1/destinations/${destinationId}/health -H 'authorization: Bearer ${apiKey}'`,
    '',
    ...(gateway.startsWith('https:') || controlPlane.startsWith('https:') ? tlsNote : []),
    'Ctrl-C stops everything; the data stays.',
    '',
  ].join('\n');
}

const tlsNote = [
  'For a service with your own certificate, give curl the authority that signed it (--cacert FILE). The certificate has to name 127.0.0.1;',
  'if it does not, give curl the name in the certificate (--connect-to NAME:PORT:127.0.0.1:PORT).',
  '',
];
