import aws4 from 'aws4';
import type { JsonObject } from '../process/json.ts';
import { baseUrlSetting, readBaseUrl } from './base-url.ts';
import { SettingError } from './define.ts';
import type { OutboundEvent, OutboundRequest, SettingDescriptor } from './define.ts';
import { deliveryHeaders } from './delivery-headers.ts';
import { optionalTextSetting, textSetting } from './settings.ts';

/** The settings every service of AWS asks for. */
export function awsSettings(service: string): readonly SettingDescriptor[] {
  return [
    { type: 'Text', key: 'region', label: 'Region', placeholder: 'eu-central-1', sublabel: null, required: true },
    { type: 'Text', key: 'accessKeyId', label: 'Access key id', placeholder: 'AKIA…', sublabel: null, required: true },
    {
      type: 'Secret',
      key: 'secretAccessKey',
      label: 'Secret access key',
      placeholder: '',
      sublabel: null,
      required: true,
    },
    {
      type: 'Secret',
      key: 'sessionToken',
      label: 'Session token',
      placeholder: '',
      sublabel: 'Only for temporary credentials.',
      required: null,
    },
    baseUrlSetting(`https://${service}.<region>.amazonaws.com`),
  ];
}

export const awsExampleSettings = {
  region: 'eu-central-1',
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'example-secret-access-key',
} as const;

export type AwsCall = {
  /** Signed, and what the signature needs is added. Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** What the body carries. */
  readonly events: readonly OutboundEvent[];
};

/** Makes a POST to the root of a service, signed for the time of the attempt. */
export type MakeAwsRequest = (call: AwsCall, nowMs: number) => OutboundRequest;

/**
 * Reads the settings of a service and signs with Signature Version 4,
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html. Throws SettingError.
 */
export function prepareAwsRequests(service: string, settings: JsonObject): MakeAwsRequest {
  const region = textSetting(settings, 'region');
  if (!/^[a-z]{2,4}(-[a-z]+)+-\d{1,2}$/.test(region))
    throw new SettingError('region', 'must be one such as eu-central-1');
  const sessionToken = optionalTextSetting(settings, 'sessionToken');
  const credentials = {
    accessKeyId: headerText('accessKeyId', textSetting(settings, 'accessKeyId')),
    secretAccessKey: textSetting(settings, 'secretAccessKey'),
    ...(sessionToken === undefined ? {} : { sessionToken: headerText('sessionToken', sessionToken) }),
  };
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const url = new URL(`${readBaseUrl(settings, `https://${service}.${region}.${domain}`)}/`);
  return ({ headers, body, events }, nowMs) => {
    const { headers: signed = {} } = aws4.sign(
      {
        service,
        region,
        method: 'POST',
        host: url.host,
        path: url.pathname,
        headers: { ...headers, 'x-amz-date': amzDate(nowMs) },
        body,
      },
      credentials,
    );
    return { method: 'POST', url: url.href, headers: { ...deliveryHeaders(events), ...toHeaders(signed) }, body };
  };
}

/** The sender writes the host and the length itself, and writes what was signed. */
const sentAnyway: ReadonlySet<string> = new Set(['host', 'content-length']);

function toHeaders(signed: NodeJS.Dict<unknown>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(signed)) {
    const lower = name.toLowerCase();
    if (!sentAnyway.has(lower)) headers[lower] = String(value);
  }
  return headers;
}

function amzDate(nowMs: number): string {
  return new Date(nowMs).toISOString().replace(/[:-]|\.\d{3}/g, '');
}

function headerText(key: string, text: string): string {
  if (!/^[\x21-\x7e]+$/.test(text)) throw new SettingError(key, 'must be text without spaces and line breaks');
  return text;
}
