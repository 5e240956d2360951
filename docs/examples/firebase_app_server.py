"""An app server with the Firebase Admin SDK: sends one message to a device.

    firebase_app_server.py KEY_FILE TOKEN TEXT

KEY_FILE comes from ccsctl service-accounts add. The names of Google's hosts must resolve to ccsd, and SSL_CERT_FILE and
REQUESTS_CA_BUNDLE must name its CA.
"""
import sys

import firebase_admin
from firebase_admin import messaging

key_file, token, text = sys.argv[1:]
firebase_admin.initialize_app(firebase_admin.credentials.Certificate(key_file))
# Release 7.7 warns that token is deprecated in favour of fid, an installation ID; ccsd accepts both.
message = messaging.Message(token=token, data={"text": text}, android=messaging.AndroidConfig(priority="high"))
try:
    print("accepted", messaging.send(message))
except messaging.UnregisteredError:
    # The app was removed from the device: delete the token.
    sys.exit("refused: the token is no longer registered")
except firebase_admin.exceptions.UnavailableError as error:
    # ccsd cannot take the message now: send it again later.
    sys.exit(f"unavailable, try again: {error}")
