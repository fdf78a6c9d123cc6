import type { SentEvent } from './event.ts';

/** A common business event, with its names. */
type StandardEventDeclaration = {
  /** The name that customer data platforms share (https://segment.com/docs/connections/spec), or a name close to it. */
  readonly label: string;
  /**
   * Other names in common use, such as names of Google Analytics 4 and ad platforms: in lower case,
   * without separators.
   */
  readonly aliases: readonly string[];
};

/**
 * Common business events with their name and accepted spellings. Each platform's names are in
 * `platform-events.ts`.
 */
export const standardEvents = {
  pageView: {
    label: 'Page Viewed',
    aliases: ['pageview', 'viewedpage', 'page', 'pagevisit', 'pagevisited', 'pageloaded'],
  },
  viewContent: {
    label: 'Product Viewed',
    aliases: ['viewcontent', 'viewedproduct', 'productview', 'viewitem', 'contentviewed'],
  },
  viewList: {
    label: 'Product List Viewed',
    aliases: [
      'viewlist',
      'viewcategory',
      'viewitemlist',
      'listview',
      'categoryviewed',
      'viewedproductlist',
      'viewedproductcategory',
      'productcategoryviewed',
    ],
  },
  selectItem: { label: 'Product Clicked', aliases: ['selectitem', 'clickedproduct', 'productselected'] },
  search: {
    label: 'Products Searched',
    aliases: ['search', 'searched', 'viewsearchresults', 'searchedproducts', 'productsearched'],
  },
  addToCart: {
    label: 'Product Added',
    aliases: ['addtocart', 'addedtocart', 'addcart', 'cartadded', 'addedproduct', 'productaddedtocart'],
  },
  removeFromCart: {
    label: 'Product Removed',
    aliases: ['removefromcart', 'removedfromcart', 'cartremoved', 'removedproduct', 'productremovedfromcart'],
  },
  viewCart: { label: 'Cart Viewed', aliases: ['viewcart', 'viewedcart'] },
  addToWishlist: {
    label: 'Product Added to Wishlist',
    aliases: ['addtowishlist', 'addedtowishlist', 'wishlistproductadded', 'addedproducttowishlist'],
  },
  startCheckout: {
    label: 'Checkout Started',
    aliases: ['initiatecheckout', 'begincheckout', 'startcheckout', 'startedcheckout'],
  },
  addShippingInfo: { label: 'Shipping Info Entered', aliases: ['addshippinginfo', 'shippinginfoadded'] },
  addPaymentInfo: {
    label: 'Payment Info Entered',
    aliases: ['addpaymentinfo', 'addbilling', 'paymentinfoadded', 'enteredpaymentinfo'],
  },
  purchase: {
    label: 'Order Completed',
    aliases: ['purchase', 'completepayment', 'completedorder'],
  },
  // Shops send Order Placed in addition to Order Completed, because an order can be placed before it is completed.
  placeOrder: { label: 'Order Placed', aliases: ['placedorder', 'placeanorder', 'placeorder'] },
  refund: { label: 'Order Refunded', aliases: ['refund', 'refundedorder'] },
  cancelOrder: { label: 'Order Cancelled', aliases: ['ordercanceled', 'cancelledorder', 'canceledorder'] },
  viewPromotion: { label: 'Promotion Viewed', aliases: ['viewpromotion', 'viewedpromotion'] },
  selectPromotion: { label: 'Promotion Clicked', aliases: ['selectpromotion', 'clickedpromotion'] },
  joinGroup: { label: 'Group Joined', aliases: ['joingroup', 'joinedgroup'] },
  share: { label: 'Product Shared', aliases: ['share'] },
  signUp: {
    label: 'Signed Up',
    aliases: ['signup', 'completeregistration', 'registrationcompleted', 'accountcreated'],
  },
  login: { label: 'Signed In', aliases: ['login', 'loggedin', 'signin'] },
  lead: {
    label: 'Lead',
    aliases: ['generatelead', 'leadsubmitted', 'leadcreated'],
  },
  // Newsletters, searches and questions use forms too, so a submitted form alone is not a lead.
  submitForm: { label: 'Form Submitted', aliases: ['submitform', 'formsubmit'] },
  subscribe: { label: 'Subscription Started', aliases: ['subscribe', 'subscriptioncreated'] },
  startTrial: { label: 'Trial Started', aliases: ['starttrial', 'startedtrial'] },
  contact: { label: 'Contacted', aliases: ['contact', 'contactus'] },
  schedule: {
    label: 'Appointment Scheduled',
    aliases: ['schedule', 'scheduled', 'appointmentbooked', 'bookappointment'],
  },
  submitApplication: { label: 'Application Submitted', aliases: ['submitapplication'] },
  findLocation: { label: 'Location Searched', aliases: ['findlocation', 'locationfound'] },
  customizeProduct: { label: 'Product Customized', aliases: ['customizeproduct', 'customiseproduct'] },
  donate: { label: 'Donated', aliases: ['donate', 'donation', 'donationcompleted'] },
  appInstall: { label: 'Application Installed', aliases: ['appinstall', 'appinstalled'] },
  appOpen: { label: 'Application Opened', aliases: ['appopen', 'appopened'] },
  watchVideo: { label: 'Video Playback Started', aliases: ['watchvideo', 'videowatched', 'videostart'] },
} as const satisfies Readonly<Record<string, StandardEventDeclaration>>;

export type StandardEvent = keyof typeof standardEvents;

/** The amounts and products of a standard event, in the terms of `commerceOf`. */
export type StandardParameter =
  | 'value'
  | 'currency'
  | 'orderId'
  | 'itemIds'
  | 'itemCount'
  | 'itemId'
  | 'itemName'
  | 'itemCategory'
  | 'itemBrand'
  | 'itemPrice'
  | 'itemQuantity'
  | 'searchText';

/** A platform's names for standard events. */
export type PlatformVocabulary = {
  /** The platform's name for each event that has one. */
  readonly names: Readonly<Partial<Record<StandardEvent, string>>>;
  /**
   * Further platform names, which correspond to no standard event. An event with such a name, in any
   * spelling, keeps the name.
   */
  readonly others?: readonly string[];
  /** What happens to an event without a platform name, in a few words for the documentation. */
  readonly unnamed: string;
  /** Path of the body field that carries each parameter: `data[].custom_data.contents[].item_price`. */
  readonly parameters: Readonly<Partial<Record<StandardParameter, string>>>;
  /** Page on which the platform documents names and parameters. */
  readonly source: string;
};

/**
 * The inputs for the platform's event name. A mapped name is used only if it is a platform name.
 */
export type NamedEvent = Pick<SentEvent, 'name' | 'isRenamed'>;

/**
 * The platform's name for an event: one of the platform's names in any spelling, or the platform's
 * name for a common name (`Order Completed` is a purchase). Undefined if there is none. A mapped
 * name is not translated, because it is meant to be the name that the platform receives.
 */
export function createEventNames({
  names: ofStandard,
  others = [],
}: Pick<PlatformVocabulary, 'names' | 'others'>): (event: NamedEvent) => string | undefined {
  // The platform's own names take precedence, because a word may mean something else at another platform.
  const own = new Map([...Object.values(ofStandard), ...others].map((name) => [plain(name), name]));
  const common = new Map(
    Object.entries(standardEvents).flatMap(([standard, { label, aliases }]) => {
      const name = ofStandard[standard as StandardEvent];
      return name === undefined ? [] : [plain(label), ...aliases].map((alias) => [alias, name] as const);
    }),
  );
  return ({ name, isRenamed }) => {
    if (name.length > nameCharactersMax) return undefined;
    const written = plain(name);
    return own.get(written) ?? (isRenamed ? undefined : common.get(written));
  };
}

const common: ReadonlyMap<string, StandardEvent> = new Map(
  Object.entries(standardEvents).flatMap(([standard, { label, aliases }]) =>
    [plain(label), ...aliases].map((alias) => [alias, standard as StandardEvent] as const),
  ),
);

/** The standard event that has this label or alias; undefined for any other name. */
export function standardEventOf(name: string): StandardEvent | undefined {
  return name.length > nameCharactersMax ? undefined : common.get(plain(name));
}

const nameCharactersMax = 100;

/** `Order Completed`, `order_completed` and `orderCompleted` are one name. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}
