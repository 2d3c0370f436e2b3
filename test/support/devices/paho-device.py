# A device that speaks MQTT with paho: prints one JSON line for each thing that happens. Arguments: port, endpoint ID, credential, version, task.
import json
import sys

import paho.mqtt.client as mqtt

port, endpoint, credential, version, task = sys.argv[1:]
up, down = f"v1/{endpoint}/up/", f"v1/{endpoint}/down/"


def tell(**event):
    print(json.dumps(event), flush=True)


def code(reason):
    return getattr(reason, "value", reason)


def text(properties):
    return getattr(properties, "ReasonString", None)


def connected(client, _userdata, _flags, reason, properties=None):
    tell(event="connected", code=code(reason), text=text(properties))
    if code(reason) != 0:
        client.disconnect()
    elif task == "foreign":
        client.publish("v1/5a2f4f3e-8f2c-4f5f-9b0e-3f1f6f0c7a11/up/status", "{}", qos=1)
    else:
        client.publish(up + "config", json.dumps({"version": 0, "config": {}}), qos=1)
        client.publish(up + "status", json.dumps({"orientation": "portrait"}), qos=2)
        client.subscribe(down + "#", qos=1)


def subscribed(client, _userdata, _id, _granted, _properties=None):
    client.publish(up + "status", json.dumps({"orientation": 5}), qos=1)


kinds = set()


def received(client, _userdata, message):
    kind = message.topic[len(down):]
    tell(event=kind, body=json.loads(message.payload))
    kinds.add(kind)
    if kinds == {"config", "message-refused"}:
        client.disconnect()


def disconnected(client, _userdata, reason, properties=None):
    tell(event="disconnected", code=code(reason), text=text(properties))
    client.disconnect()


is_v5 = version == "5"
client = mqtt.Client(client_id="", protocol=mqtt.MQTTv5 if is_v5 else mqtt.MQTTv311)
client.username_pw_set(endpoint, credential)
client.on_connect, client.on_subscribe = connected, subscribed
client.on_message, client.on_disconnect = received, disconnected
client.connect("127.0.0.1", int(port), keepalive=30)
client.loop_forever(retry_first_connection=False)
