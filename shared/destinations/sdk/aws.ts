import aws4 from 'aws4';
import { jsonAnswer } from './answers.ts';
import type { OutboundAnswer, OutboundEvent, OutboundRequest, Outcome } from './destination.ts';
import { deliveryHeaders } from './http.ts';
import { address, matching, optionalBaseUrl, optionalSecret, requiredSecret, requiredText } from './settings.ts';
import type { SettingsOf } from './settings.ts';

const plainText = matching(/^[\x21-\x7e]+$/, 'must be text without spaces or line breaks');

/** The settings that every AWS service needs. */
export function awsSettings(service: string) {
  return {
    region: address(
      requiredText(
        { label: 'Region', placeholder: 'eu-central-1', example: 'eu-central-1' },
        matching(/^[a-z]{2,4}(-[a-z]+)+-\d{1,2}$/, 'must be a region such as eu-central-1'),
      ),
    ),
    accessKeyId: requiredText({ label: 'Access key ID', placeholder: 'AKIA…', example: 'AKIDEXAMPLE' }, plainText),
    secretAccessKey: requiredSecret({ label: 'Secret access key', example: 'example-secret-access-key' }),
    sessionToken: optionalSecret({ label: 'Session token', sublabel: 'Only for temporary credentials.' }, plainText),
    baseUrl: optionalBaseUrl(`https://${service}.<region>.amazonaws.com`),
  };
}

export type AwsSettings = SettingsOf<ReturnType<typeof awsSettings>>;

export type AwsCall = {
  /** Included in the signature, together with the headers that signing adds. Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Path below the service's root, with the query. Defaults to the root. */
  readonly path?: string;
  readonly events: readonly OutboundEvent[];
};

/** Builds a POST to a service, signed with the time of the attempt. */
export type MakeAwsRequest = (call: AwsCall, nowMs: number) => OutboundRequest;

/** By the first part of a region: China, and the European Sovereign Cloud. */
const domains: Readonly<Record<string, string>> = { cn: 'amazonaws.com.cn', eusc: 'amazonaws.eu' };

/**
 * Signs for a service with Signature Version 4,
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html.
 */
export function prepareAwsRequests(
  service: string,
  { region, accessKeyId, secretAccessKey, sessionToken, baseUrl }: AwsSettings,
): MakeAwsRequest {
  const credentials = { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
  const domain = domains[region.split('-')[0] ?? ''] ?? 'amazonaws.com';
  const root = `${baseUrl ?? `https://${service}.${region}.${domain}`}/`;
  return ({ headers, body, path = '', events }, nowMs) => {
    const url = new URL(root + path);
    const { headers: signed = {} } = aws4.sign(
      {
        service,
        region,
        method: 'POST',
        host: url.host,
        path: url.pathname + url.search,
        headers: { ...headers, 'x-amz-date': amzDate(nowMs) },
        body,
      },
      credentials,
    );
    return { method: 'POST', url: url.href, headers: { ...deliveryHeaders(events), ...toHeaders(signed) }, body };
  };
}

/** The HTTP client writes the host and content length itself, with the values that were signed. */
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

// Services spell one code in several ways: KMSNotFound, KmsNotFound, KMSNotFoundException. The
// lists below hold each code once, in lower case, without the prefix up to a dot and without the
// suffix Exception.

/** Codes of temporary errors, whatever their status. */
const passing: ReadonlySet<string> = new Set([
  'internalerror',
  'internalfailure',
  'requesttimeout',
  'serviceunavailable',
]);

/** Throttling codes. AWS usually sends them with status 400, or in the result of a single record. */
const throttling: ReadonlySet<string> = new Set([
  'kmsthrottled',
  'kmsthrottling',
  'limitexceeded',
  'priorrequestnotcomplete',
  'provisionedthroughputexceeded',
  'requestthrottled',
  'slowdown',
  'throttled',
  'throttling',
  'toomanyrequests',
]);

/**
 * Codes for a key that is unknown, expired or lacks a permission, for a signature with a wrong time, or for a missing
 * stream, topic, queue, bus or function: no fault of an event.
 */
const ofAccess: ReadonlySet<string> = new Set([
  'accessdenied',
  'authorizationerror',
  'expiredtoken',
  'incompletesignature',
  'invalidclienttokenid',
  'invalidsecurity',
  'invalidsignature',
  'kmsaccessdenied',
  'kmsdisabled',
  'kmsinvalidstate',
  'kmsnotfound',
  'kmsoptinrequired',
  'missingauthenticationtoken',
  'nonexistentqueue',
  'notauthorized',
  'notauthorizedforsource',
  'notfound',
  'queuedoesnotexist',
  'requestexpired',
  'resourcenotfound',
  'signaturedoesnotmatch',
  'unrecognizedclient',
]);

/** Codes that one event of a batch may have caused. */
const perhapsOneEvent: ReadonlySet<string> = new Set([
  'batchrequesttoolong',
  'invalidargument',
  'invalidmessagecontents',
  'invalidparameter',
  'invalidparametervalue',
  'parametervalueinvalid',
  'serialization',
  'validation',
  'validationerror',
]);

const plainCode = (code: string): string =>
  code
    .slice(code.lastIndexOf('.') + 1)
    .toLowerCase()
    .replace(/exception$/, '');

/**
 * The error code of a JSON response: `{"__type":
 * "com.amazonaws.kinesis.v20131202#ResourceNotFoundException", …}`.
 */
export function awsErrorCode(answer: OutboundAnswer): string | undefined {
  const type = jsonAnswer(answer)?.['__type'];
  return typeof type === 'string' ? type.slice(type.indexOf('#') + 1) : undefined;
}

/** Classifies an AWS error code for the event it refers to. */
export function awsOutcome(code: string): Outcome {
  const reason = /^[\w.]{1,64}$/.test(code) ? code : 'error without a known code';
  const plain = plainCode(code);
  if (throttling.has(plain)) return { kind: 'retry', reason, isThrottled: true };
  if (ofAccess.has(plain)) return { kind: 'retry', reason, refusesAccess: true };
  return passing.has(plain) ? { kind: 'retry', reason } : { kind: 'reject', reason };
}

/**
 * Classifies an error of a whole request. Undefined if the status is enough, if the response has no
 * code, or if one event of several may be the cause.
 */
export function awsFailure(
  { status }: OutboundAnswer,
  code: string | undefined,
  events: readonly OutboundEvent[],
): readonly Outcome[] | undefined {
  if ((status !== 400 && status !== 404) || code === undefined) return undefined;
  if (events.length > 1 && perhapsOneEvent.has(plainCode(code))) return undefined;
  const outcome = awsOutcome(code);
  return events.map(() => outcome);
}
