import type { Subject } from '../../routing/values/property-path.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundRequest, PreparedDestination } from '../sdk/destination.ts';
import { isHeaderValue } from '../sdk/header-rules.ts';
import { identifyingHeaders } from '../sdk/http.ts';
import { address, headerSetting, optionalText, requiredText, SettingError } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { compileBodyTemplate, compileUrlTemplate, templateSetting, templateSubject } from '../sdk/templates.ts';

const methods = ['POST', 'PUT', 'PATCH', 'GET'] as const;
const standardContentType = 'application/json';

const settings = {
  url: address(
    requiredText(
      {
        label: 'URL',
        placeholder: 'https://example.com/users/{{visitor.id}}',
        sublabel: 'Placeholders are allowed after the host. Redirects are not followed.',
        example: 'https://example.com/users/{{visitor.id}}?event={{event.event}}',
      },
      compileUrlTemplate,
    ),
  ),
  method: optionalText(
    {
      label: 'Method',
      placeholder: 'POST',
      sublabel: `${methods.join(', ')}, or a template that produces one of them.`,
      example: 'POST',
    },
    compileMethod,
  ),
  headers: headerSetting({
    label: 'Headers',
    placeholder: '{"X-Event": "{{event.event}}"}',
    sublabel: 'A JSON object of strings. Values may contain placeholders.',
    example: '{"Authorization":"Bearer example","X-Source":"{{event.source_id}}"}',
  }),
  body: optionalText({
    label: 'Body',
    placeholder: '{"name": "{{event.event}}", "value": {{event.event_properties.value}}}',
    sublabel: 'Formatted by its Content-Type, by default application/json. If empty, the request has no body.',
    example: '{"name": "{{event.event}}", "at": {{event.time}}, "properties": {{event.event_properties}}}',
  }),
};

/**
 * A custom request: URL, method, headers and body are templates over the event and its visitor, in the mapping
 * language. Each value is escaped for its position, so that no event can change the request's structure. An event is
 * refused if a value does not fit in a header, or would change the method or host.
 */
export const httpCustomRequest = defineDestination({
  id: 'HTTPCustomRequest',
  label: 'HTTP Custom Request',
  settings,
  facts: {
    sends: 'What the templates produce from an event',
    limits: { events: 1 },
    deduplicatesBy: 'idempotency-key',
    errors: 'status of the request, one event each',
    sources: ['https://www.rfc-editor.org/rfc/rfc9110'],
    checked: '2026-11-22',
    version: 'unversioned',
    namesElsewhere: ['Webhooks (Actions)', 'Webhook', 'Extensible Webhook', 'HTTP', 'HTTP Webhook'],
  },
  loadPlatform: async () => (await import('./platform.ts')).customEndpoint,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const { url } = given;
  const method = given.method ?? compileMethod('POST', 'method');
  const headers = Object.entries(given.headers).map(([name, text]) => ({
    name,
    value: templateSetting(text, 'headers'),
  }));
  const contentType = given.headers['content-type'] ?? standardContentType;
  if (contentType.includes('{{')) throw new SettingError('headers', 'must name the content type without placeholders');
  const body = given.body === undefined ? undefined : compileBodyTemplate(given.body, 'body', contentType);
  return {
    batchEventsMax: 1,
    buildRequest([event]): OutboundRequest {
      if (event === undefined) throw new UnfitEventError('the request has no event');
      const subject = templateSubject(event);
      const sent: Record<string, string> = {
        'user-agent': 'Sluice/1 (+HTTPCustomRequest)',
        ...identifyingHeaders([event]),
      };
      if (body !== undefined) sent['content-type'] = contentType;
      for (const { name, value } of headers) sent[name] = headerValue(value.renderText(subject));
      return { method: method(subject), url: url(subject), headers: sent, body: body?.(subject) };
    },
  };
}

type Method = OutboundRequest['method'];

function compileMethod(text: string, key: string): (subject: Subject) => Method {
  const template = templateSetting(text, key);
  const find = (name: string): Method | undefined => methods.find((method) => method === name.trim().toUpperCase());
  if (!text.includes('{{') && find(text) === undefined) {
    throw new SettingError(key, `must be one of ${methods.join(', ')}`);
  }
  return (subject) => {
    const method = find(template.renderText(subject));
    if (method === undefined) throw new UnfitEventError('the values do not produce an allowed method');
    return method;
  };
}

function headerValue(text: string): string {
  if (!isHeaderValue(text)) throw new UnfitEventError('a value does not fit in a header');
  return text;
}
