// Large: one table, with one or more entries per provider.
/** A provider's request, with made-up people, and the fields that are to be read from it. */
export type ProviderExample = {
  readonly name: string;
  readonly type: string;
  /** Content type of the request; JSON by default. */
  readonly contentType?: string;
  readonly body: string;
  /** The important fields of each event, in order. */
  readonly events: readonly ExpectedEvent[];
};

export type ExpectedEvent = {
  readonly kind?: 'identify';
  readonly name?: string;
  readonly id?: string | RegExp;
  /** ISO 8601. */
  readonly time?: string;
  readonly userId?: string;
  readonly externalId?: string;
  readonly email?: string;
  readonly traits?: Readonly<Record<string, string>>;
  readonly context?: Readonly<Record<string, string>>;
  readonly ip?: string;
  readonly userAgent?: string;
  readonly consent?: object;
  readonly integrations?: object;
  /** Some of the properties. */
  readonly properties?: object;
};

const boundary = '------------------------d74496d66958873e';

const multipart = (fields: Readonly<Record<string, string>>): string =>
  [
    ...Object.entries(fields).map(
      ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    ),
    `--${boundary}--\r\n`,
  ].join('');

const json = (value: unknown): string => JSON.stringify(value);

/**
 * Bodies as documented by the providers, at a time the test chooses: `at` is in ms since the epoch.
 * Large: one table, with one or more entries per provider.
 */
export function providerExamples(at: number): readonly ProviderExample[] {
  const time = new Date(Math.floor(at / 1000) * 1000).toISOString();
  const seconds = Math.floor(at / 1000);
  const ms = seconds * 1000;
  return [
    {
      name: 'a response',
      type: 'TypeformWebhooks',
      body: json({
        event_id: '01HTYPEFORM000000000000001',
        event_type: 'form_response',
        form_response: {
          form_id: 'lT4Z3j',
          token: 'a3a12ec67a1365927098a606107fac15',
          submitted_at: time,
          landed_at: time,
          hidden: { user_id: 'abc123456', utm_source: 'newsletter' },
          definition: {
            id: 'lT4Z3j',
            title: 'Webhooks example',
            fields: [
              { id: 'DlXFaesGBpoF', title: 'What is your first name?', type: 'short_text' },
              { id: 'SMEUb7VJz92Q', title: 'Your email', type: 'email' },
              { id: 'k6TP9oLGgHjl', title: 'And your phone?', type: 'phone_number' },
            ],
          },
          answers: [
            { type: 'text', text: 'Ada', field: { id: 'DlXFaesGBpoF', type: 'short_text' } },
            { type: 'email', email: 'ada@example.com', field: { id: 'SMEUb7VJz92Q', type: 'email' } },
            { type: 'phone_number', phone_number: '+15555550101', field: { id: 'k6TP9oLGgHjl', type: 'phone_number' } },
            { type: 'choice', choice: { label: 'New York' }, field: { id: 'x', type: 'dropdown' } },
          ],
        },
      }),
      events: [
        {
          name: 'form_response',
          id: 'typeform:01HTYPEFORM000000000000001',
          time,
          externalId: 'abc123456',
          email: 'ada@example.com',
          traits: { first_name: 'Ada', phone_number: '+15555550101' },
          context: { utm_source: 'newsletter' },
          properties: { form_response: { form_id: 'lT4Z3j' } },
        },
      ],
    },
    {
      name: 'a booking',
      type: 'CalendlyWebhook',
      body: json({
        created_at: time.replace('.000Z', '.000000Z'),
        created_by: 'https://api.calendly.com/users/AAAAAAAAAAAAAAAA',
        event: 'invitee.created',
        payload: {
          uri: 'https://api.calendly.com/scheduled_events/AAAA/invitees/BBBB',
          email: 'grace@example.com',
          name: 'Grace Brewster Hopper',
          first_name: null,
          last_name: null,
          status: 'active',
          text_reminder_number: '+1 404-555-0102',
          rescheduled: false,
          questions_and_answers: [{ question: 'Company', answer: 'Compilers Inc', position: 0 }],
          tracking: { utm_campaign: 'spring', utm_source: null, utm_medium: null },
        },
      }),
      events: [
        {
          name: 'invitee.created',
          id: 'calendly:https://api.calendly.com/scheduled_events/AAAA/invitees/BBBB:invitee.created',
          time,
          email: 'grace@example.com',
          traits: {
            first_name: 'Grace',
            last_name: 'Brewster Hopper',
            phone_number: '+1 404-555-0102',
            company_name: 'Compilers Inc',
          },
          context: { utm_campaign: 'spring' },
        },
      ],
    },
    {
      name: 'a booking',
      type: 'CalComWebhooks',
      body: json({
        triggerEvent: 'BOOKING_CREATED',
        createdAt: time,
        payload: {
          type: '60min',
          title: '60min between Pro Example and Jean',
          startTime: time,
          organizer: { name: 'Pro Example', email: 'pro@example.com', timeZone: 'Asia/Kolkata' },
          responses: {
            name: { label: 'your_name', value: 'Jean Bartik' },
            email: { label: 'email_address', value: 'jean@example.com' },
            location: { label: 'location', value: { optionValue: '', value: 'inPerson' } },
          },
          attendees: [{ email: 'jean@example.com', name: 'Jean Bartik', timeZone: 'Asia/Kolkata' }],
          uid: 'bFJeNb2uX8ANpT3JL5EfXw',
        },
      }),
      events: [
        {
          name: 'BOOKING_CREATED',
          id: `calcom:bFJeNb2uX8ANpT3JL5EfXw:BOOKING_CREATED:${time}`,
          time,
          email: 'jean@example.com',
          traits: { first_name: 'Jean', last_name: 'Bartik' },
        },
      ],
    },
    {
      name: 'an ended meeting, which has no envelope',
      type: 'CalComWebhooks',
      body: json({
        triggerEvent: 'MEETING_ENDED',
        id: 7,
        uid: 'bFJeNb2uX8ANpT3JL5EfXx',
        title: '60min between Pro Example and Jean',
        createdAt: new Date(ms - 2_592_000_000).toISOString(),
        startTime: new Date(ms - 3_600_000).toISOString(),
        endTime: time,
        attendees: [{ email: 'jean@example.com', name: 'Jean Bartik', timeZone: 'Asia/Kolkata' }],
      }),
      events: [
        {
          name: 'MEETING_ENDED',
          id: `calcom:bFJeNb2uX8ANpT3JL5EfXx:MEETING_ENDED:${time}`,
          time,
          email: 'jean@example.com',
          traits: { first_name: 'Jean', last_name: 'Bartik' },
          properties: {
            payload: { id: 7, createdAt: new Date(ms - 2_592_000_000).toISOString(), endTime: time },
          },
        },
      ],
    },
    {
      name: 'a submission',
      type: 'JotFormWebhooks',
      contentType: `multipart/form-data; boundary=${boundary}`,
      body: multipart({
        action: '',
        webhookURL: 'https://ingest.example.com/webhook/…',
        username: 'jotuser',
        formID: '230000000000001',
        type: 'WEB',
        formTitle: 'Contact',
        submissionID: '5500000000000000001',
        ip: '198.51.100.77',
        pretty: 'Name:Hedy Lamarr, Email:hedy@example.com',
        rawRequest: json({
          slug: 'submit/230000000000001',
          submitDate: String(ms),
          q3_name: { first: 'Hedy', last: 'Lamarr' },
          q4_email: 'hedy@example.com',
          q5_phoneNumber: { full: '(555) 555-0103' },
          q6_address: { addr_line1: '1 Way', city: 'Vienna', state: '', postal: '1010', country: 'Austria' },
        }),
      }),
      events: [
        {
          id: /^jotform:5500000000000000001:[\w-]{22}$/,
          time,
          email: 'hedy@example.com',
          traits: {
            first_name: 'Hedy',
            last_name: 'Lamarr',
            phone_number: '(555) 555-0103',
            city: 'Vienna',
            zip: '1010',
            country: 'Austria',
          },
          ip: '198.51.100.77',
          properties: { formID: '230000000000001', rawRequest: { q4_email: 'hedy@example.com' } },
        },
      ],
    },
    {
      name: 'a call after its end',
      type: 'CallRail',
      body: json({
        answered: true,
        business_phone_number: '+15555550190',
        customer_city: 'Denver',
        customer_country: 'US',
        customer_name: 'RADIA PERLMAN',
        customer_phone_number: '+13035550163',
        customer_state: 'CO',
        direction: 'inbound',
        duration: '4',
        resource_id: 'CAL8154748ae6bd4e278a7cddd38a662f4f',
        start_time: time,
        tracking_phone_number: '+13038163491',
        landing_page_url: 'https://shop.example.com/landing',
        gclid: 'g-1',
        utm_source: 'google',
      }),
      events: [
        {
          name: 'call',
          id: /^callrail:CAL8154748ae6bd4e278a7cddd38a662f4f:[\w-]{22}$/,
          time,
          traits: {
            first_name: 'RADIA',
            last_name: 'PERLMAN',
            phone_number: '+13035550163',
            city: 'Denver',
            state: 'CO',
            country: 'US',
          },
          context: { current_url: 'https://shop.example.com/landing', gclid: 'g-1', utm_source: 'google' },
        },
      ],
    },
    {
      name: 'a text message that an agent sent',
      type: 'CallRail',
      body: json({
        resource_id: 'MSG1',
        agent: 'Agent Example',
        source_number: '+13038163491',
        destination_number: '+13035550164',
        content: 'See you then',
        message_type: 'sms',
        timestamp: time,
      }),
      events: [{ name: 'text_message_sent', time, traits: { phone_number: '+13035550164' } }],
    },
    {
      name: 'an activity',
      type: 'CallTrackingMetrics',
      body: json({
        id: 4379952365,
        caller_number_bare: '2395550171',
        caller_number_format: '(239) 555-0171',
        cnam: 'KATHERINE JOHNSON',
        tracking_number_bare: '2395550175',
        source: 'Direct',
        city: '',
        state: 'FL',
        is_new_caller: true,
        tag_list: [],
        dial_status: 'ringing',
        unix_time: seconds,
      }),
      events: [
        {
          id: /^calltrackingmetrics:4379952365:[\w-]{22}$/,
          time,
          traits: { first_name: 'KATHERINE', last_name: 'JOHNSON', phone_number: '2395550171', state: 'FL' },
        },
      ],
    },
    {
      name: 'a new lead',
      type: 'WhatConverts',
      body: json({
        trigger: 'new',
        lead_id: 153928,
        user_id: '51497-af17340d-62b8-3044-423f-3dc754e621c2',
        lead_type: 'Web Form',
        lead_status: 'Unique',
        last_updated: time,
        date_created: time,
        lead_url: 'https://www.example.com/contact',
        landing_url: 'https://www.example.com/',
        lead_source: 'google',
        lead_medium: 'cpc',
        ip_address: '203.0.113.88',
        contact_name: 'Margaret Hamilton',
        contact_company_name: 'Apollo',
        contact_email_address: 'margaret@example.com',
        contact_phone_number: '+17045550124',
        city: 'Charlotte',
        state: 'NC',
        zip: '28226',
      }),
      events: [
        {
          name: 'Web Form',
          id: /^whatconverts:153928:new:[\w-]{22}$/,
          time,
          email: 'margaret@example.com',
          traits: { first_name: 'Margaret', last_name: 'Hamilton', company_name: 'Apollo', zip: '28226' },
          context: { current_url: 'https://www.example.com/contact', utm_source: 'google', utm_medium: 'cpc' },
          ip: '203.0.113.88',
        },
      ],
    },
    {
      name: 'subscribed events, an array of them',
      type: 'HubspotFormWebhook',
      body: json([
        {
          eventId: 100,
          subscriptionId: 138,
          portalId: 62515,
          appId: 1160452,
          occurredAt: ms,
          subscriptionType: 'contact.creation',
          attemptNumber: 0,
          objectId: 123,
          changeSource: 'FORM',
        },
        {
          eventId: 101,
          subscriptionId: 139,
          portalId: 62515,
          occurredAt: ms,
          subscriptionType: 'contact.propertyChange',
          attemptNumber: 0,
          objectId: 123,
          propertyName: 'email',
          propertyValue: 'annie@example.com',
        },
      ]),
      events: [
        { name: 'contact.creation', id: `hubspotform:100:138:123:${ms}`, time, properties: { objectId: 123 } },
        {
          name: 'contact.propertyChange',
          id: `hubspotform:101:139:123:${ms}`,
          time,
          email: 'annie@example.com',
        },
      ],
    },
    {
      name: 'a contact after its form',
      type: 'HubspotFormWebhook',
      body: json({
        vid: 3234574,
        'portal-id': 62515,
        properties: {
          firstname: { value: 'Annie', versions: [] },
          email: { value: 'annie@example.com' },
          phone: { value: '+15555550105' },
        },
        'form-submissions': [
          {
            'conversion-id': 'd8b6bd2e-0000-4000-8000-000000000001',
            timestamp: ms,
            'form-id': '0a1b',
            'page-url': 'https://www.example.com/form',
            title: 'Contact form',
          },
        ],
      }),
      events: [
        {
          id: 'hubspotform:d8b6bd2e-0000-4000-8000-000000000001',
          time,
          email: 'annie@example.com',
          traits: { first_name: 'Annie', phone_number: '+15555550105' },
          context: { current_url: 'https://www.example.com/form' },
        },
      ],
    },
    {
      name: 'an execution',
      type: 'HubspotAppActions',
      body: json({
        callbackId: 'ap-102670506-56777914962-11-0',
        origin: { portalId: 102670506, actionDefinitionId: 10860211, actionDefinitionVersion: 1 },
        context: { source: 'WORKFLOWS', workflowId: 192814114 },
        object: {
          objectId: 904,
          properties: { email: 'dorothy@example.com', firstname: 'Dorothy' },
          objectType: 'CONTACT',
        },
        inputFields: { widgetName: 'My widget name' },
      }),
      events: [
        {
          id: 'hubspotappactions:ap-102670506-56777914962-11-0',
          email: 'dorothy@example.com',
          traits: { first_name: 'Dorothy' },
          properties: { inputFields: { widgetName: 'My widget name' } },
        },
      ],
    },
    {
      name: 'a submission as a form',
      type: 'Formstack',
      contentType: 'application/x-www-form-urlencoded; charset=utf-8',
      body: 'FormID=6606394&UniqueID=1500878955&HandshakeKey=not-for-the-log&Email=ida%40example.com&First+Name=Ida&Message=Hello',
      events: [
        {
          id: /^formstack:1500878955:[\w-]{22}$/,
          email: 'ida@example.com',
          traits: { first_name: 'Ida' },
          properties: { FormID: '6606394', Message: 'Hello' },
        },
      ],
    },
    {
      name: 'a finished flow',
      type: 'FormsortWebhooks',
      body: json({
        answers: { your_email: 'joan@example.com', first_name: 'Joan', goal: 'sleep' },
        responder_uuid: '66a8f5bb-67e1-4ff8-8df0-5d4b1e3bbd5e',
        flow_label: 'new-flow',
        variant_label: 'main',
        variant_uuid: '5af64f19-42cb-45f6-8d69-2d1cd491016f',
        finalized: true,
        created_at: time.replace('.000Z', '+00:00'),
      }),
      events: [
        {
          name: 'FlowFinalized',
          id: /^formsort:66a8f5bb-67e1-4ff8-8df0-5d4b1e3bbd5e:[\w-]{22}$/,
          time,
          email: 'joan@example.com',
          traits: { first_name: 'Joan' },
        },
      ],
    },
    {
      name: 'a response',
      type: 'Heyflow',
      body: json({
        flowID: 'my-demo-flow-id',
        id: 'EqSFqTjaFlGZngNrhlDZ',
        createdAt: time,
        fields: { 'E-mail': 'mary@example.com', 'First name': 'Mary', Destination: 'Spain' },
      }),
      events: [
        {
          id: 'heyflow:EqSFqTjaFlGZngNrhlDZ',
          time,
          email: 'mary@example.com',
          traits: { first_name: 'Mary' },
          properties: { flowID: 'my-demo-flow-id' },
        },
      ],
    },
    {
      name: 'a response with its fields listed',
      type: 'Heyflow',
      body: json({
        flowId: 'my-demo-flow-id',
        id: 'EqSFqTjaFlGZngNrhlDA',
        created: time,
        fields: [
          { label: 'Your address', variable: 'email', id: 'in-1', values: [{ label: 'mary@example.com', id: 'x' }] },
          { label: 'Destination', variable: 'destination', id: 'mc-2', values: [{ label: 'Spain', id: 'y' }] },
        ],
      }),
      events: [{ id: 'heyflow:EqSFqTjaFlGZngNrhlDA', time, email: 'mary@example.com' }],
    },
    {
      name: 'a new appointment',
      type: 'Healthie',
      body: json({
        resource_id: '67890',
        resource_id_type: 'Appointment',
        event_type: 'appointment.created',
        changed_fields: [],
        resource_organization_id: 'org_123',
      }),
      events: [
        { name: 'appointment.created', id: 'healthie:appointment.created:67890', properties: { resource_id: '67890' } },
      ],
    },
    {
      name: 'a response',
      type: 'AlchemerWebhook',
      body: json({
        webhook_name: 'On Response Processed',
        data: {
          is_test_data: false,
          session_id: '1550000000_abc',
          account_id: 1,
          survey_id: 4000000,
          response_id: 12,
          response_status: 'Complete',
          contact: { Email: 'evelyn@example.com', 'First Name': 'Evelyn' },
        },
      }),
      events: [
        {
          name: 'On Response Processed',
          id: /^alchemer:12:4000000:On Response Processed:[\w-]{22}$/,
          email: 'evelyn@example.com',
          traits: { first_name: 'Evelyn' },
        },
      ],
    },
    {
      name: 'an open of an app',
      type: 'Branch',
      body: json({
        id: 457_624_031_399_716_700,
        name: 'OPEN',
        timestamp: ms,
        event_timestamp: ms,
        user_data: {
          os: 'IOS',
          os_version: '11.1.2',
          user_agent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 11_1_2 like Mac OS X) AppleWebKit/604.3.5',
          ip: '203.0.113.42',
          developer_identity: 'customer-8C86',
          country: 'US',
        },
        last_attributed_touch_data: {
          '~campaign': 'winter',
          '~channel': 'mail',
          '+referrer': 'https://store.example.com/',
        },
      }),
      events: [
        {
          name: 'OPEN',
          id: /^branch:\d{18}:[\w-]{22}$/,
          time,
          externalId: 'customer-8C86',
          context: { utm_campaign: 'winter', utm_source: 'mail', referrer: 'https://store.example.com/' },
          ip: '203.0.113.42',
          userAgent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 11_1_2 like Mac OS X) AppleWebKit/604.3.5',
        },
      ],
    },
    {
      name: 'two notices of leads',
      type: 'FacebookLeadAds',
      body: json({
        object: 'page',
        entry: [
          {
            id: '153125381133',
            time: seconds,
            changes: [
              {
                field: 'leadgen',
                value: {
                  ad_id: '1',
                  form_id: '2',
                  leadgen_id: '123123123123',
                  created_time: seconds,
                  page_id: '153125381133',
                },
              },
              { field: 'leadgen', value: { form_id: '2', leadgen_id: '123123123124', created_time: seconds } },
            ],
          },
        ],
      }),
      events: [
        { name: 'leadgen', id: 'facebookleadads:123123123123:leadgen', time, properties: { page_id: '153125381133' } },
        { name: 'leadgen', id: 'facebookleadads:123123123124:leadgen', time, properties: { page_id: '153125381133' } },
      ],
    },
    {
      name: 'a track',
      type: 'SegmentWebPlugin',
      body: json({
        version: 2,
        type: 'track',
        messageId: 'ajs-next-1',
        userId: 'customer-97980',
        anonymousId: '507f191e-810c-4972-9de8-60ea00000001',
        event: 'Product Purchased',
        properties: { order_id: '50314b8e', total: 29.99 },
        integrations: { All: true, Mixpanel: false },
        context: {
          consent: { categoryPreferences: { Advertising: false } },
          ip: '203.0.113.5',
          userAgent: 'Mozilla/5.0 (Macintosh)',
          page: { url: 'https://shop.example.com/p', path: '/p', referrer: '', title: 'P' },
          campaign: { name: 'tps', source: 'mail' },
          traits: { email: 'barbara@example.com' },
        },
        timestamp: time,
      }),
      events: [
        {
          name: 'Product Purchased',
          id: 'segmentwebplugin:ajs-next-1',
          time,
          userId: '507f191e-810c-4972-9de8-60ea00000001',
          externalId: 'customer-97980',
          email: 'barbara@example.com',
          context: {
            current_url: 'https://shop.example.com/p',
            pathname: '/p',
            title: 'P',
            utm_campaign: 'tps',
            utm_source: 'mail',
          },
          ip: '203.0.113.5',
          userAgent: 'Mozilla/5.0 (Macintosh)',
          consent: { categoryPreferences: { Advertising: false } },
          integrations: { All: true, Mixpanel: false },
          properties: { order_id: '50314b8e', total: 29.99 },
        },
      ],
    },
    {
      name: 'an identify',
      type: 'SegmentWebPlugin',
      body: json({
        type: 'identify',
        messageId: 'ajs-next-2',
        userId: 'customer-97981',
        traits: { email: 'shafi@example.com', firstName: 'Shafi', plan: 'pro', address: { city: 'Boston' } },
        timestamp: time,
      }),
      events: [
        {
          kind: 'identify',
          id: 'segmentwebplugin:ajs-next-2',
          time,
          externalId: 'customer-97981',
          email: 'shafi@example.com',
          traits: { first_name: 'Shafi', city: 'Boston' },
        },
      ],
    },
    {
      name: 'a group, whose traits belong to no visitor',
      type: 'SegmentWebPlugin',
      body: json({
        type: 'group',
        messageId: 'ajs-next-3',
        userId: 'customer-97982',
        groupId: 'acme',
        traits: { email: 'office@acme.example.com', name: 'Acme' },
        timestamp: time,
      }),
      events: [
        {
          name: 'Group',
          time,
          externalId: 'customer-97982',
          properties: { groupId: 'acme', traits: { name: 'Acme' } },
        },
      ],
    },
  ];
}
